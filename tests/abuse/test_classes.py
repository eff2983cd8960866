"""A class among strangers: their cookies, their answers in masses, their guesses, and a server that is killed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import HTTPConnection
from streamlit.web.server.starlette.starlette_app_utils import validate_xsrf_token

from tests.app.classroom.asgi import Browser
from viz_app.classroom import routes
from viz_app.serving.browser_cookie import COOKIE, browser_name, signed
from viz_app.serving.classes import classrooms
from viz_app.serving.classes.class_store import class_store
from viz_app.serving.classes.classrooms import AnswerRefused, Classrooms, OwnQuestion
from viz_app.serving.scheduling.rate_limit import RateLimit
from viz_app.serving.web import cookie_middleware

PAGE = {"accept": "text/html"}
TEACHER = "teacher"
QUESTION = OwnQuestion(text="Which layer?", choices=("first", "last"), right=1)


class Clock:
    """A time that only the test moves on."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms() -> Iterator[Classrooms]:
    class_store.cache_clear()
    store = class_store()
    assert isinstance(store, Classrooms)
    yield store
    class_store.cache_clear()


@pytest.fixture
def code(rooms: Classrooms) -> str:
    """A class with an open poll."""
    code = rooms.open(TEACHER)
    rooms.ask(code, TEACHER, QUESTION)
    return code


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """Limits that no other test has used up."""
    minute, burst = cookie_middleware.NEW_BROWSERS_PER_MINUTE, cookie_middleware.NEW_BROWSER_BURST
    monkeypatch.setattr(cookie_middleware, "_limit", RateLimit(minute / 60, burst, clock))
    of_browser = RateLimit(routes.BROWSER_REQUESTS_PER_SECOND, routes.BROWSER_REQUEST_BURST, clock)
    monkeypatch.setattr(routes, "_limit_of_browser", of_browser)
    monkeypatch.setattr(routes, "_limit", RateLimit(routes.REQUESTS_PER_SECOND, routes.REQUEST_BURST, clock))


# --- cookies of other apps on the same host, which the browser sends here too ----------------------------------------

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


# --- one student who answers for a thousand --------------------------------------------------------------------------

ANSWER = {"poll": 1, "option": 0}


def taken(browser: Browser, answer: object) -> bool:
    """Whether the server gives a browser a cookie; the browser keeps it."""
    cookie = getattr(answer, "headers", {}).get("set-cookie", "")
    browser.cookie = cookie.partition("=")[2].partition(";")[0]
    return bool(cookie)


def test_invented_cookies_answer_nothing(rooms: Classrooms, code: str) -> None:
    browser = Browser("")
    real = signed("0" * 32)
    for value in ("0" * 32, "0" * 64, "f" * 64, real[:-1] + "g", real[32:] + real[:32], real.upper()):
        browser.cookie = value
        assert browser.post(f"/join/{code}/answer", ANSWER).json["refused"] == "new"
    assert rooms.look(code, TEACHER).answers == 0
    browser.cookie = real
    assert browser.post(f"/join/{code}/answer", ANSWER).status == 200


def test_an_address_gets_few_cookies_and_a_lecture_hall_gets_in(code: str, clock: Clock) -> None:
    hall = [Browser("") for _ in range(200)]
    assert sum(taken(each, each.get(f"/join/{code}", **PAGE)) for each in hall) == cookie_middleware.NEW_BROWSER_BURST
    assert hall[-1].get(f"/join/{code}/state").json == {"refused": "busy"}  # its page asks again
    for _ in range(50):  # every two seconds
        clock.now += 2.0
        for each in hall:
            if not each.cookie:
                taken(each, each.get(f"/join/{code}/state"))
    assert all(each.get(f"/join/{code}/state").status == 200 for each in hall) and clock.now == 100.0


def test_a_full_poll_makes_room_for_other_addresses(
    rooms: Classrooms, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classrooms, "MAX_STUDENTS", 10)
    for number in range(10):
        rooms.answer(code, f"invented {number}", 1, 0, "10.0.0.66")
    with pytest.raises(AnswerRefused):
        rooms.answer(code, "one more of them", 1, 0, "10.0.0.66")
    for number in range(4):
        rooms.answer(code, f"student {number}", 1, 1, "10.0.0.7")
    rooms.answer(code, "student 4", 1, 1, "10.0.0.8")
    assert rooms.look(code, TEACHER).counts == {0: 5, 1: 5}
    assert rooms.look(code, "invented 0").mine == 0 and rooms.look(code, "invented 9").mine is None
    with pytest.raises(AnswerRefused):
        rooms.answer(code, "student 5", 1, 1, "10.0.0.7")  # no address has more than it would


# --- one laptop behind the address of its class ----------------------------------------------------------------------


def test_one_browser_cannot_silence_its_class(code: str) -> None:
    loud, phone = Browser("a" * 32), Browser("b" * 32)
    replies = [loud.get(f"/join/{code}/state").status for _ in range(routes.REQUEST_BURST + 100)]
    assert replies.count(200) == routes.BROWSER_REQUEST_BURST
    nameless = Browser("")
    assert {nameless.post(f"/join/{code}/answer?given=1", ANSWER).status for _ in range(50)} == {400}
    assert {phone.get(f"/join/{code}/state").status for _ in range(30)} == {200}
