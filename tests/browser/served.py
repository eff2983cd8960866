"""Streamlit servers that all processes of a test run share.

The first who needs a script starts its server, under a lock, and leaves its address in a folder that all know by the
environment; the others read it there. The last process that goes on to other tests ends all of them, or the process
that began the run (tests/conftest.py). Whoever looks at something that a server has only once, such as its load, starts
a server that no other test asks for.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
WAITING = Path(__file__).with_name("waiting")
START_SECONDS = 180  # a slow machine that starts several servers and browsers at once
STOP_SECONDS = 10


class ServerError(RuntimeError):
    """A server did not come up."""


class AppServer:
    """The app on a port of its own, for one test file; it can be started again where it was.

    Args:
        log: Where its output goes.
        environment: What differs from this process' environment.
    """

    def __init__(self, log: Path, **environment: str) -> None:
        self.log, self._environment, self._port = log, environment, free_port()
        self.address = f"http://127.0.0.1:{self._port}"
        self.start()

    def start(self) -> None:
        self._process = _started(ROOT / "viz_app" / "main.py", self._environment, self._port, self.log)
        if failure := _wait_for_health(self._process, self._port, self.log):
            raise ServerError(failure)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(STOP_SECONDS * 6)


def address_of(script: Path, environment: dict[str, str], folder: Path) -> str:
    """The address of the server of a script, such as `http://127.0.0.1:8765`; it is started if nobody has yet.

    Args:
        script: The script that Streamlit runs.
        environment: What differs from this process' environment; another environment is another server.
        folder: Where the servers of this run are listed, and write their logs.
    """
    script = script.resolve()
    description = json.dumps([str(script), sorted(environment.items())])
    name = f"{script.stem}-{hashlib.sha256(description.encode()).hexdigest()[:12]}"
    listed = folder / f"{name}.json"
    with FileLock(folder / f"{name}.lock"):
        if not listed.exists():
            log = folder / f"{name}.log"
            port = free_port()
            server = _started(script, environment, port, log)
            entry = {"port": port, "pid": server.pid}
            listed.write_text(json.dumps(entry), encoding="utf-8")  # at once, so that it is ended in any case
            failure = _wait_for_health(server, port, log)
            listed.write_text(json.dumps({**entry, "failure": failure}), encoding="utf-8")
        entry = json.loads(listed.read_text(encoding="utf-8"))
    if entry.get("failure"):
        raise ServerError(entry["failure"])
    return f"http://127.0.0.1:{entry['port']}"


def leave(folder: Path) -> None:
    """Say that this process has no browser tests left; the last one ends the servers, which are never quite idle."""
    with FileLock(folder / "leaving.lock"):  # two may be the last at once
        (folder / f"left-{os.environ.get('PYTEST_XDIST_WORKER', '')}").touch()
        if len([*folder.glob("left-*")]) == int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")):
            stop_all(folder)


def stop_all(folder: Path) -> None:
    """End all servers that are listed in a folder; those that do not end by themselves are killed."""
    listed = [*folder.glob("*.json")]
    servers = [json.loads(each.read_text(encoding="utf-8")) for each in listed]
    for each in listed:
        each.unlink()
    for server in servers:
        _signal(server["pid"], signal.SIGTERM)
    end = time.monotonic() + STOP_SECONDS
    for server in servers:
        while _listens(server["port"]) and time.monotonic() < end:
            time.sleep(0.05)
        if _listens(server["port"]):
            _signal(server["pid"], getattr(signal, "SIGKILL", signal.SIGTERM))


def _started(script: Path, environment: dict[str, str], port: int, log: Path) -> subprocess.Popen[bytes]:
    options = ["--server.headless=true", f"--server.port={port}", "--server.address=127.0.0.1"]
    options += ["--server.fileWatcherType=none", "--browser.gatherUsageStats=false"]
    waiting = {"PYTHONPATH": str(WAITING)} if "HEADLIGHT_WAIT_MS" in os.environ else {}
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(script), *options],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", **waiting, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for_health(server: subprocess.Popen[bytes], port: int, log: Path) -> str | None:
    """None as soon as the server answers, or why it does not."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            return f"the server ended with status {server.returncode}:\n{_end_of(log)}"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5) as answer:
                if answer.status == 200:
                    return None
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    return f"the server did not answer within {START_SECONDS} s:\n{_end_of(log)}"


def _end_of(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-2000:]


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):  # it has ended already
        os.kill(pid, number)
