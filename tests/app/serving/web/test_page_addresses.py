"""Addresses of pages written another way lead to their page; and what a search engine reads of pages."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.app.classroom.asgi import exchange, scope_of
from tests.browser.served import ROOT
from viz_app.serving.web.page_addresses import PageAddresses
from viz_app.serving.web.page_routes import page_routes
from viz_app.text import texts

HOST = "http://localhost:8501"


def answer(path: str, query: str = "", method: str = "GET", base: str = "") -> tuple[int, str]:
    """Status of an answer, and the address to which a browser goes from there; "" if it stays."""
    inner = Starlette(routes=[Route("/{path:path}", lambda _: PlainTextResponse("app"), methods=["GET", "POST"])])
    scope = scope_of(path, [], "10.0.0.5", method=method, query_string=query.encode())
    start, *_ = exchange(PageAddresses(inner, base), scope, [])
    location = dict(start["headers"]).get(b"location", b"").decode("ascii")
    return start["status"], urljoin(f"{HOST}{path}", location) if location else ""


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/translate", "/"),
        ("/Translate/", "/"),
        ("/Lessons", "/lessons"),
        ("/LESSONS/", "/lessons"),
        ("/lessons/", "/lessons"),
        ("/lessons//", "/lessons"),
        ("/class", "/classroom"),  # as the navigation calls it
        ("/강의", "/lessons"),
        ("/Glossary", "/glossary"),
    ],
)
def test_an_address_written_another_way_leads_to_its_page_with_its_query(path: str, page: str) -> None:
    query = "lesson=masks&text=A%20caf%C3%A9%3F&to=//evil.example"
    assert answer(path, query) == (307, f"{HOST}{page}?{query}")
    assert answer(path, method="HEAD") == (307, f"{HOST}{page}")


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/lessons", "/glossary", "/lesson", "/lessons/masks", "/a/lessons", "/static/Lessons"),
        *("/_stcore/health", "//lessons", "///LAB"),  # a redirect of the last two would lead to itself
    ],
)
def test_other_addresses_pass(path: str) -> None:
    assert answer(path) == (200, "")


def test_only_what_reads_is_redirected() -> None:
    assert answer("/Lessons", method="POST") == (200, "")


def test_behind_a_prefix() -> None:
    prefix = "/tools/headlight"
    assert answer(f"{prefix}/translate", base=f"{prefix}/") == (307, f"{HOST}{prefix}/")
    assert answer(f"{prefix}/LAB/", base=prefix) == (307, f"{HOST}{prefix}/lab")
    for path in (f"{prefix}/lab", "/Lab", f"{prefix}Lab"):
        assert answer(path, base=prefix) == (200, "")


def test_no_path_leads_to_another_server() -> None:
    for path in ("//evil.example/lessons", "/\\evil.example/Lessons", "///Lessons", "//translate"):
        _, target = answer(path)
        assert not target or target.startswith(f"{HOST}/"), (path, target)


@pytest.mark.parametrize("path", ["/robots.txt", "/", "/lessons"])
def test_search_engines_read_what_the_pages_are(path: str) -> None:
    app = Starlette(routes=page_routes("", ROOT / "viz_app" / "frame.css"))
    _, *bodies = exchange(app, scope_of(path, [], "10.0.0.5", method="GET"), [])
    text = b"".join(each["body"] for each in bodies).decode()
    if path == "/robots.txt":
        assert text == "User-agent: *\nAllow: /\n"
    else:
        assert f'<meta name="description" content="{texts("en")("frame.about")}">' in text.partition("</head>")[0]
