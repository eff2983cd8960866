"""The parts of a cluster on this machine: a model server, front ends, nginx with the configuration of deploy/."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import string
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.screen.browser import APP, ROOT
from benchmarks.server.visitor import processes
from viz_app.serving.server_address import MODEL_SERVER_SETTING, PATH
from viz_app.serving.web.health import READY

BASE_PATH = "heads"  # of the addresses, so that it is tried as well
_START = 120.0  # seconds that a part may take to start
_TEMPLATE = ROOT / "deploy" / "nginx.conf.template"
# What nginx needs around the configuration of deploy/, where Debian and the container have files of their own.
_AROUND = """daemon off;
pid {folder}/pid;
error_log {folder}/error.log;
worker_processes 1;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/headlight.conf;
}}
"""


@dataclass
class Part:
    """A process that is started, stopped and started again.

    Args:
        command: Its command line.
        ready: An address that answers when it is ready.
        settings: Environment besides this one's.
        process: It, while it runs.
    """

    command: Sequence[str]
    ready: str
    settings: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Whether the process runs."""
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        quiet = subprocess.DEVNULL
        environment = {**os.environ, **self.settings}
        self.process = subprocess.Popen(self.command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
        end = time.monotonic() + _START
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(self.ready, timeout=2):
                    return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"did not start: {' '.join(self.command)}")

    def stop(self) -> None:
        """End it as an operator would."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(_START)
            self.process = None


@dataclass
class Cluster:
    """All parts, running.

    Args:
        model: The model server.
        fronts: The front ends.
        proxy: nginx.
        address: What a visitor opens.
    """

    model: Part
    fronts: list[Part]
    proxy: Part
    address: str

    def replicas(self) -> list[int]:
        """Processes that hold the model."""
        return [pid for pid in processes(self.model.pid) if _title(pid).startswith(b"ray::ServeReplica:model")]

    def kill_replica(self) -> None:
        """End one without a word."""
        os.kill(self.replicas()[0], signal.SIGKILL)


def _title(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def find_nginx() -> str | None:
    """The program; Debian has it where a user's path does not lead."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


@contextmanager
def cluster(folder: Path, replicas: int, fronts: int) -> Iterator[Cluster]:
    """Start all parts on free ports of this machine, and end them.

    Args:
        folder: For nginx.
        replicas: Of the model.
        fronts: How many front ends.
    """
    nginx = find_nginx()
    if nginx is None:
        raise SystemExit("no nginx: apt-get install nginx-light")
    proxy_port, model_port, *front_ports = _free_ports(2 + fronts)
    model_address = f"http://127.0.0.1:{model_port}"
    serve = [sys.executable, "-m", "viz_app", "serve", f"--port={model_port}", f"--replicas={replicas}"]
    model = Part(serve, f"{model_address}{PATH}")
    front_ends = [
        Part(
            [
                *(sys.executable, "-m", "streamlit", "run", str(APP), f"--server.port={port}"),
                *("--server.headless=true", "--server.address=127.0.0.1", f"--server.baseUrlPath={BASE_PATH}"),
            ],
            f"http://127.0.0.1:{port}{READY}",
            {MODEL_SERVER_SETTING: model_address},
        )
        for port in front_ports
    ]
    configure_nginx(folder, proxy_port, front_ports)
    address = f"http://127.0.0.1:{proxy_port}/{BASE_PATH}"
    proxy = Part([nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")], f"{address}/_stcore/health")
    with ExitStack() as stack:
        for part in (model, *front_ends, proxy):
            stack.callback(part.stop)
            part.start()
        yield Cluster(model, front_ends, proxy, address)


def configure_nginx(folder: Path, port: int, fronts: Sequence[int]) -> None:
    """Write the configuration of deploy/ with its values into a folder, and what nginx needs around it.

    Args:
        folder: Where to.
        port: On which nginx listens.
        fronts: Ports of the front ends.
    """
    servers = "".join(f"server 127.0.0.1:{each} max_fails=1 fail_timeout=5s;\n" for each in fronts)
    values = {"LISTEN": f"127.0.0.1:{port}", "BASE_PATH": f"/{BASE_PATH}", "FRONT_ENDS_FILE": str(folder / "fronts")}
    (folder / "fronts").write_text(servers, encoding="ascii")
    text = string.Template(_TEMPLATE.read_text(encoding="utf-8")).safe_substitute(values)
    (folder / "headlight.conf").write_text(text, encoding="utf-8")
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder), encoding="utf-8")
