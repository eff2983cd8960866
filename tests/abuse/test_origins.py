"""Origins of requests: parties of addresses, pages of other origins, rebound names, the server's own computer."""

from __future__ import annotations

import asyncio
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit import config

from benchmarks.server.visitor import visiting
from tests.abuse.test_network import through
from tests.app.classroom.asgi import Browser
from tests.browser.served import AppServer
from viz_app.serving.classes import classrooms
from viz_app.serving.classes.classrooms import CLASSES_PER_MINUTE, MAX_CLASSES_OF_ADDRESS, Classrooms, TooManyClasses
from viz_app.serving.opening.model_folders import allowed_root
from viz_app.serving.request_origin import party, same_origin
from viz_app.serving.scheduling import visitor as visitor_module
from viz_app.serving.scheduling.rate_limit import RateLimit

UNPARSABLE = ("http://[", "http://[::1", "http://a]b", "http://\uff0f", "//[v1.x", "null", "http://", "\xff" * 99, "")


# Parties.


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("2001:db8:1:2::/64", "2001:db8:1:2::/64"),
        ("::1", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("unix:", "unix:"),
        ("%", "%"),
        ("", ""),
    ],
)
def test_a_network_of_version_6_is_one_party(address: str, expected: str) -> None:
    assert party(address) == expected


def test_every_limit_of_addresses_counts_parties(monkeypatch: pytest.MonkeyPatch) -> None:
    one_network = [f"2001:db8:1:2::{number:x}" for number in range(1, 40)]
    limit = RateLimit(1, 5, lambda: 0.0)
    assert sum(limit.allows(address) for address in one_network) == 5
    rooms = Classrooms(lambda: 0.0)
    for number in range(MAX_CLASSES_OF_ADDRESS):
        rooms.open(f"browser {number}", one_network[number])
    with pytest.raises(TooManyClasses):
        rooms.open("one more", one_network[-1])
    rooms.open("a neighbour", "2001:db8:1:3::1")
    seen = set()
    monkeypatch.setattr(visitor_module, "run_session", lambda: "session")
    monkeypatch.setattr(visitor_module, "st", SimpleNamespace(runtime=SimpleNamespace(exists=lambda: True)))
    for address in one_network:
        monkeypatch.setattr(visitor_module, "client_address", lambda _, address=address: address)
        seen.add(visitor_module.current_visitor().address)
    assert len(seen) == 1


def test_new_classes_of_a_minute_have_a_limit_of_their_own() -> None:
    now = 0.0
    rooms = Classrooms(lambda: now)

    def opened(count: int) -> int:
        done = 0
        for number in range(count):
            try:
                rooms.open(f"{now} {number}", f"10.0.{number}.{int(now)}")
                done += 1
            except TooManyClasses:
                pass
        return done

    assert CLASSES_PER_MINUTE < classrooms.MAX_CLASSES
    assert opened(CLASSES_PER_MINUTE + 5) == CLASSES_PER_MINUTE
    now = 30.0
    assert opened(CLASSES_PER_MINUTE) == CLASSES_PER_MINUTE // 2


# Headers.


@pytest.mark.parametrize("origin", UNPARSABLE)
def test_what_no_parser_reads_is_no_origin(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for host in (origin, "", "class.test"):
        assert not same_origin({"origin": origin, "host": host})
    monkeypatch.delenv("HEADLIGHT_MODELS", raising=False)
    assert allowed_root("127.0.0.1", {"host": origin.removeprefix("http://")}) is None
    assert Browser().post("/join/ABCDEF/answer", {"poll": 1, "option": 0}, origin=origin).status == 403


def test_refused_requests_count_for_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz_app.classroom.routes._limit", RateLimit(0.001, 2))
    rows = [Browser().post("/join/ABCDEF/answer", b"x", origin="http://[").status for _ in range(4)]
    assert rows == [403, 403, 429, 429]


# A server on this computer.


@pytest.fixture(scope="module")
def server(random_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    log = tmp_path_factory.mktemp("log") / "log"
    more = {"HEADLIGHT_TEACHER_KEY": "a-long-teacher-key", "STREAMLIT_SERVER_ALLOWED_HOSTS": "heads.example.org"}
    result = AppServer(log, HEADLIGHT_CHECKPOINT=str(random_checkpoint), HEADLIGHT_WORKERS="0", **more)
    yield result
    result.stop()


def cookie(address: str) -> str:
    """The cookie that the server gives to a new browser."""
    asked = urllib.request.Request(address, headers={"Accept": "text/html"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return str(answer.headers["set-cookie"]).partition(";")[0]


def asks_for_key(address: str, forwarded: str = "") -> bool:
    """Whether the page Class asks a new browser for the teacher key."""

    async def visit() -> bool:
        async with visiting(address, forwarded, cookie(address)) as visitor:
            await visitor.open("classroom")
            assert any("class_code" in field for field in visitor.fields), "the page is drawn"
            return any("class_key" in field for field in visitor.fields)

    return asyncio.run(visit())


@pytest.mark.process
def test_the_servers_own_computer_needs_no_teacher_key(server: AppServer) -> None:
    assert not asks_for_key(server.address)
    assert asks_for_key(server.address, "192.0.2.7") and asks_for_key(server.address, "127.0.0.1")


def raw(server: AppServer, path: str, *headers: str) -> tuple[int, str]:
    """Status and answer of a request with these headers alone; a websocket's answer is its handshake's."""
    port = int(server.address.rpartition(":")[2])
    lines = "".join(f"{line}\r\n" for line in headers)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
        answer = b""
        while b"\r\n\r\n" not in answer and (part := connection.recv(65_536)):
            answer += part
    return int(answer.split()[1]), answer.decode("latin-1")


UPGRADE = (
    *("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"),
    *("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol: streamlit"),
)


def connects(server: AppServer, origin: str | None, host: str, *headers: str) -> bool:
    """Whether a page of an origin gets a websocket at a host."""
    sent = (f"Host: {host}", *([f"Origin: {origin}"] if origin is not None else []), *headers, *UPGRADE)
    status, _ = raw(server, "/_stcore/stream", *sent)
    assert status in (101, 403)
    return status == 101


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
@pytest.mark.process
def test_a_page_opens_a_websocket_to_its_own_server_only(server: AppServer, name: str) -> None:
    own = f"{name}:{server.address.rpartition(':')[2]}"
    assert connects(server, f"http://{own}", own) and connects(server, None, own)
    assert connects(server, f"http://{name}:9000", f"{name}:9000"), "a port that is forwarded"
    for origin in (f"http://{name}:9999", f"http://{name}", "http://0.0.0.0", "http://evil.example", *UNPARSABLE):
        assert not connects(server, origin, own), origin
    assert raw(server, "/_stcore/health", f"Host: {own}")[0] == 200


PLACES = ("/", "/_stcore/health", "/join/ABCDEF", "/join/ABCDEF/state", "/healthz/live")


@pytest.mark.parametrize("host", ["evil.example:8501", "localhost.evil.example", "192.0.2.7", "127.0.0.1@evil", "["])
@pytest.mark.process
def test_a_server_of_this_computer_has_no_other_name(server: AppServer, host: str) -> None:
    assert not connects(server, f"http://{host}", host) and not connects(server, None, host)
    assert {raw(server, path, f"Host: {host}")[0] for path in PLACES} == {403}


@pytest.mark.process
def test_the_page_of_students_runs_no_inline_code(server: AppServer) -> None:
    _, answer = raw(server, "/join/ABCDEF", "Host: localhost")
    policies = [line for line in answer.lower().splitlines() if line.startswith("content-security-policy:")]
    strictest = min(policies, key=len)
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in strictest and "unsafe" not in strictest


@pytest.mark.process
def test_a_forged_header_of_a_proxy_opens_no_other_name(server: AppServer) -> None:
    for header in ("X-Forwarded-For: 192.0.2.7", "Forwarded: for=127.0.0.1", "Via: 1.1 proxy", "X-Real-IP: 127.0.0.1"):
        assert not connects(server, "http://evil.example", "evil.example", header)
        assert {raw(server, path, "Host: evil.example", header)[0] for path in PLACES} == {403}
        assert raw(server, "/", "Host: localhost", header)[0] == 200


@pytest.mark.process
def test_a_server_with_a_named_host_keeps_its_own_names(server: AppServer) -> None:
    for host in ("heads.example.org", "localhost", "127.0.0.1"):
        assert raw(server, "/", f"Host: {host}")[0] == 200 and connects(server, f"http://{host}", host)
        assert not connects(server, "http://evil.example", host)


@pytest.mark.process
def test_no_header_leaves_a_trace_in_the_log(server: AppServer) -> None:
    for value in UNPARSABLE:
        raw(server, "/join/ABCDEF/state", "Host: localhost", f"Origin: {value}")
        connects(server, value, "localhost")
    log = server.log.read_text(encoding="utf-8")
    assert "Traceback" not in log and len(log) < 20_000, log[-2_000:]


@pytest.fixture
def option() -> Iterator[Callable[[str, Any], None]]:
    """Set an option of Streamlit for a test."""
    before: dict[str, Any] = {}

    def set_to(name: str, value: Any) -> None:
        before.setdefault(name, config.get_option(name))
        config.set_option(name, value)

    yield set_to
    for name, value in before.items():
        config.set_option(name, value)


def passes(origin: str, host: str) -> bool:
    """Whether the guard lets a websocket through."""
    headers = [(b"origin", origin.encode()), (b"host", host.encode())]
    _, sent = through({"type": "websocket", "path": "/_stcore/stream", "headers": headers}, [])
    return not sent


def test_settings_of_streamlit_name_more_hosts_and_origins(option: Callable[[str, Any], None]) -> None:
    lab, proxy = ("http://lab.test:8501", "lab.test:8501"), ("https://heads.test", "127.0.0.1:8501")
    option("server.address", None)
    name = socket.gethostname().lower()
    for host in ("192.0.2.7:8501", "[2001:db8::1]:8501", "localhost:8501", name, f"{name.partition('.')[0]}.local:80"):
        assert passes(f"http://{host}", host), "a server on all addresses has those of its computer"
    assert not passes(*lab) and not passes(*proxy) and not passes("http://192.0.2.7.evil.test", "192.0.2.7.evil.test")
    option("server.address", "127.0.0.1")
    assert not passes(*lab) and not passes(*proxy)
    option("server.allowedHosts", ["lab.test", "127.0.0.1"])
    assert passes(*lab) and not passes("http://evil.test", "evil.test")
    option("server.corsAllowedOrigins", ["https://heads.test"])
    assert passes(*proxy) and not passes("http://heads.test", proxy[1])
    option("server.enableCORS", False)
    assert passes("http://heads.test", proxy[1])
