"""The documented proxies, as nginx runs them in front of a server that repeats what it was sent."""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from benchmarks.server.cluster_parts import _AROUND, BASE_PATH, _free_ports, configure_nginx, find_nginx

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]


class _Echo(BaseHTTPRequestHandler):
    """Answer with the headers and the size of a request."""

    def do_PUT(self) -> None:
        size = len(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps({"size": size, **{name.lower(): value for name, value in self.headers.items()}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _documented(folder: Path, port: int, app: int) -> str:
    """Write the proxy of SECURITY.md without its certificate; returns the base path."""
    text = re.findall(r"```nginx\n(.*?)```", (ROOT / "SECURITY.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    text = re.sub(r" *ssl_certificate.*\n", "", text).replace("443 ssl", f"127.0.0.1:{port}").replace("8501", str(app))
    (folder / "headlight.conf").write_text(text, encoding="utf-8")
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder), encoding="utf-8")
    return ""


def _deployed(folder: Path, port: int, app: int) -> str:
    """Write the proxy of deploy/; returns the base path."""
    configure_nginx(folder, port, [app])
    return f"/{BASE_PATH}"


@pytest.fixture(params=[_documented, _deployed], ids=["SECURITY.md", "deploy"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Address of the app behind the proxy, on a port that is not 80."""
    if (nginx := find_nginx()) is None:
        pytest.skip("needs nginx: apt-get install nginx-light")
    app = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    threading.Thread(target=app.serve_forever, args=(0.02,), daemon=True).start()
    (port,) = _free_ports(1)
    base = request.param(tmp_path, port, app.server_port)
    proxy = subprocess.Popen([nginx, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")])
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}{base}"
    finally:
        proxy.terminate()
        proxy.wait(10)
        app.shutdown()
        app.server_close()


def _put(address: str, size: int, **headers: str) -> dict[str, Any]:
    request = urllib.request.Request(address, b"x" * size, headers, method="PUT")
    with urllib.request.urlopen(request, timeout=10) as answer:
        loaded: dict[str, Any] = json.load(answer)
    return loaded


def test_the_app_sees_host_port_and_address_of_the_visitor(address: str) -> None:
    """A Host without the port differs from the page's Origin: no page would connect, and no answer count."""
    seen = _put(f"{address}/join/K7MQ2P/answer", 10, **{"X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"})
    assert f"http://{seen['host']}" == address.removesuffix(f"/{BASE_PATH}")
    assert (seen["x-forwarded-for"], seen["x-forwarded-proto"]) == ("127.0.0.1", "http")


def _get(address: str, path: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=10)
    connection.request("GET", path, headers={"Host": "heads.example.org:8443"})
    return connection.getresponse()


@pytest.mark.parametrize("address", [_deployed], ids=["deploy"], indirect=True)
def test_the_base_path_without_a_slash_leads_to_the_page_at_the_visitors_port(address: str) -> None:
    answer = _get(address, f"/{BASE_PATH}")
    assert (answer.status, answer.headers["location"]) == (301, f"/{BASE_PATH}/")


@pytest.mark.parametrize("address", [_deployed], ids=["deploy"], indirect=True)
def test_visitors_do_not_see_how_a_front_end_is(address: str) -> None:
    assert _get(address, f"/{BASE_PATH}/healthz/ready").status == 404


def test_no_request_may_be_large(address: str) -> None:
    with pytest.raises((urllib.error.HTTPError, ConnectionError, urllib.error.URLError)):
        _put(f"{address}/join/K7MQ2P/answer", 3_000_000)
