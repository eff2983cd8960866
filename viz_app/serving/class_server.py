"""Server for a class beside this one, open to the local network: the command `class` as a child of this process.

There is one at most. Its input is a pipe of this process, at whose end it ends, so it does not outlive this one.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import urllib.request
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal

from viz_app.serving.end_with_parent import ENDS_WITH_INPUT
from viz_app.serving.opening.model_folders import OFF, SETTING
from viz_app.serving.settings import METRICS_SETTING

_ROOT = Path(__file__).resolve().parents[2]
_PORTS = 20  # that are tried
_SECONDS = 2.0  # for an answer of the server
_LAST_SECONDS = 20.0  # for its end
# The proxy of a school has no way to this computer.
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class NoFreePort(Exception):
    """Other programs have all ports that were tried."""


class ClassServer:
    """The one server for a class. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    def start(self, own_port: int) -> None:
        """Start it on a free port after this server's own, unless it runs. Raises NoFreePort."""
        with self._lock:
            if self._process is not None and self._process.poll() is None:
                return
            self.port = _free_port(own_port)
            # Strangers open no models, and a port for metrics can be taken only once.
            environment = {**os.environ, SETTING: OFF, ENDS_WITH_INPUT: "1"}
            environment.pop(METRICS_SETTING, None)
            command = [sys.executable, "-m", "viz_app", "class", f"--port={self.port}"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment, cwd=_ROOT
            )

    @property
    def state(self) -> Literal["off", "starting", "open", "failed"]:
        """Its state: `failed` if it has ended by itself."""
        process = self._process
        if process is None or process.poll() is not None:
            return "off" if process is None else "failed"
        with suppress(OSError), _direct.open(f"http://127.0.0.1:{self.port}/healthz/ready", timeout=_SECONDS):
            return "open"
        return "starting"

    def stop(self) -> None:
        """End it, and wait for that."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None and process.stdin is not None:
                process.stdin.close()
                process.wait(_LAST_SECONDS)


def _free_port(after: int) -> int:
    for port in range(after + 1, min(after + _PORTS, 65_535) + 1):
        with suppress(OSError), socket.create_server(("0.0.0.0", port), reuse_port=False):
            return port
    raise NoFreePort


@cache
def class_server() -> ClassServer:
    """Return the server for a class of this process."""
    return ClassServer()
