"""The server for a class: who can start it, and that it never outlives the app."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.app.conftest import MAIN, SECONDS
from viz_app.serving import class_server as module
from viz_app.serving.class_server import ClassServer, NoFreePort, class_server
from viz_app.serving.classes.classrooms import Classrooms
from viz_app.serving.scheduling import visitor
from viz_app.serving.scheduling.request_queue import Visitor
from viz_app.text import texts
from viz_app.ui.classroom import second_server

ROOT = Path(__file__).resolve().parents[2]
T = texts("en")
OWN = {"host": "localhost:8501"}


def seen_from(
    monkeypatch: pytest.MonkeyPatch, address: str, headers: dict[str, str], bound: str | None = "127.0.0.1"
) -> None:
    options = {"server.address": bound, "server.port": 8501}
    original = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: options[name] if name in options else original(name))
    monkeypatch.setattr(visitor, "current_visitor", lambda: Visitor(address))
    monkeypatch.setattr(type(st.context), "headers", headers)


@pytest.fixture
def app(random_checkpoint: Path, rooms: Classrooms, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app in a browser that keeps cookies."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(random_checkpoint))
    for name in ("viz_app.ui.classroom.class_membership", "viz_app.serving.scheduling.visitor"):
        monkeypatch.setattr(f"{name}.current_browser", lambda: "t" * 32)
    return AppTest.from_file(str(MAIN), default_timeout=SECONDS)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Ports of the servers that asked for a start; none runs."""
    ports: list[int] = []
    monkeypatch.setattr(ClassServer, "start", lambda _, port: ports.append(port))
    monkeypatch.setattr(second_server, "lan_address", lambda: "10.0.0.7")
    return ports


REFUSED = {
    "another computer": ("10.0.0.66", OWN, "127.0.0.1"),
    "another computer with a forged host": ("10.0.0.66", {"host": "127.0.0.1:8501"}, "127.0.0.1"),
    "a foreign host": ("127.0.0.1", {"host": "heads.example.org"}, "127.0.0.1"),
    "a host that begins alike": ("127.0.0.1", {"host": "localhost.example.org:8501"}, "127.0.0.1"),
    "no host": ("127.0.0.1", {}, "127.0.0.1"),
    "through a proxy": ("127.0.0.1", {**OWN, "X-Forwarded-For": "127.0.0.1"}, "127.0.0.1"),
    "through another proxy": ("127.0.0.1", {**OWN, "Forwarded": "for=127.0.0.1"}, "127.0.0.1"),
    "a server that is open to all": ("127.0.0.1", OWN, "0.0.0.0"),
    "a server with no address": ("127.0.0.1", OWN, None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_nobody_else_starts_or_ends_it(
    name: str, app: AppTest, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even with a button from before."""
    monkeypatch.setattr(ClassServer, "stop", lambda _: pytest.fail("it was ended"))
    seen_from(monkeypatch, "127.0.0.1", OWN)
    app.switch_page("app_pages/classroom.py").run()
    button = app.button(key="class-server-start")
    seen_from(monkeypatch, *REFUSED[name])
    assert not second_server.may_open()
    button.click().run()
    second_server._stop()
    assert started == [] and not [each for each in app.button if each.key == "class-server-start"]


@pytest.mark.parametrize("headers", [OWN, {"host": "127.0.0.1:8501"}, {"host": "[::1]:8501"}])
def test_the_teacher_starts_it(
    headers: dict[str, str], app: AppTest, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen_from(monkeypatch, "127.0.0.1", headers)
    app.switch_page("app_pages/classroom.py").run()
    app.button(key="class-server-start").click().run()
    assert started == [8501]


def test_without_a_network_or_a_port_it_says_so(
    app: AppTest, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: ClassServer, _port: int) -> None:
        raise NoFreePort

    seen_from(monkeypatch, "127.0.0.1", OWN)
    monkeypatch.setattr(ClassServer, "start", refuse)
    app.switch_page("app_pages/classroom.py").run()
    app.button(key="class-server-start").click().run()
    assert [each.value for each in app.error] == [T("classroom.server_no_port")]
    monkeypatch.setattr(second_server, "lan_address", lambda: None)
    app.run()
    assert app.button(key="class-server-start").disabled
    assert [each.value for each in app.warning] == [T("classroom.server_no_network")]


def test_a_port_in_use_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as used:
        port = used.getsockname()[1]
        assert module._free_port(port - 1) > port
        monkeypatch.setattr(module, "_PORTS", 1)
        with pytest.raises(NoFreePort):
            module._free_port(port - 1)
    with pytest.raises(NoFreePort):
        module._free_port(65_535)


def test_one_that_ends_by_itself_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ClassServer()
    monkeypatch.setattr(sys, "executable", "false")
    server.start(8600)
    assert server._process is not None
    server._process.wait(20)
    states = [server.state]
    server.stop()
    assert [*states, server.state] == ["failed", "off"] and class_server() is class_server()


def test_a_proxy_of_the_network_is_not_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setattr(urllib.request, "_opener", None)  # which has read the environment
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.delenv("no_proxy", raising=False)
        server = ClassServer()
        server._process, server.port = SimpleNamespace(poll=lambda: None), listener.getsockname()[1]  # type: ignore[assignment]

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1_000)
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nok")

        threading.Thread(target=answer, daemon=True).start()
        assert server.state == "open"


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz/live", timeout=2):
            return True
    except OSError:
        return False


def becomes(wanted: bool, port: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while answers(port) is not wanted and time.monotonic() < end:
        time.sleep(0.2)
    return answers(port) is wanted


PARENT = """
import sys, time
from viz_app.serving.class_server import class_server
server = class_server()
server.start(int(sys.argv[1]))
server.start(int(sys.argv[1]))
print(server.port, server._process.pid, flush=True)
sys.stdin.readline()
server.stop()
print(server.state, flush=True)
"""


@pytest.mark.process
@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_it_ends_when_it_is_stopped_and_with_the_app_even_when_that_is_killed(end: str) -> None:
    pipe = subprocess.PIPE
    with socket.create_server(("127.0.0.1", 0)) as free:
        after = free.getsockname()[1]
    with subprocess.Popen([sys.executable, "-c", PARENT, str(after)], cwd=ROOT, stdin=pipe, stdout=pipe) as parent:
        assert parent.stdout is not None and parent.stdin is not None
        port = int(parent.stdout.readline().split()[0])
        try:
            assert becomes(True, port, 120)
            if end == "killed":
                parent.send_signal(signal.SIGKILL)
            else:
                parent.stdin.write(b"\n")
                parent.stdin.flush()
                assert parent.stdout.readline() == b"off\n"
            assert becomes(False, port, 30)
        finally:
            parent.kill()


@pytest.mark.process
@pytest.mark.parametrize("signal_sent", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_of_a_killed_command_ends(signal_sent: int, random_checkpoint: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "viz_app", "app", f"--port={port}", f"--checkpoint={random_checkpoint}"]
    with subprocess.Popen([*command, "--server.headless=true"], cwd=ROOT) as process:
        try:
            assert becomes(True, port, 120)
            process.send_signal(signal_sent)
            assert becomes(False, port, 30)
        finally:
            process.kill()
