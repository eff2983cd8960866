"""A class among strangers: their cookies, their answers in masses, their guesses, and a server that is killed."""

from __future__ import annotations


import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import HTTPConnection
from streamlit.web.server.starlette.starlette_app_utils import validate_xsrf_token

from tests.app.classroom.asgi import Browser
from viz_app.serving.browser_cookie import COOKIE, browser_name

PAGE = {"accept": "text/html"}


# --- cookies of other apps on the same host, which the browser sends here too ------------------------------------------

HEADERS = ("a@b=1", "theme/dark=1; x", "=;;==", 'a="\\400\\x', "a(b)=<c>", "\xff=\xfe", f"{COOKIE}=1; {COOKIE}@=2")


@pytest.mark.parametrize("header", HEADERS)
def test_no_cookie_of_another_app_makes_a_page_fail(header: str) -> None:
    page = Browser("").get("/join/ABCDEF", cookie=header, **PAGE)
    assert page.status == 200 and COOKIE in page.headers["set-cookie"]


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.text(st.characters(max_codepoint=255)))
def test_no_cookie_header_raises(header: str) -> None:
    """Here and where Streamlit reads it: the same parser, then its token against requests of other sites."""
    cookies = HTTPConnection({"type": "http", "headers": [(b"cookie", header.encode("latin-1"))]}).cookies
    assert browser_name(cookies) is None
    validate_xsrf_token(header, header)
    for value in cookies.values():
        value.encode("latin-1")
