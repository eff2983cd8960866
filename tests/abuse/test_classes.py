"""A class among strangers: their cookies, their answers in masses, their guesses, and what a spreadsheet runs."""

from __future__ import annotations

import asyncio
import csv
import io
import logging
import sys
from collections.abc import Callable
from itertools import chain

import pytest
import streamlit as st

from tests.abuse.test_class_restart import QUESTION, TEACHER
from tests.app.classroom.asgi import Browser
from viz_app.classroom import routes
from viz_app.classroom.results import results_table
from viz_app.cli import headlight
from viz_app.serving.browser_cookie import signed
from viz_app.serving.classes import classrooms
from viz_app.serving.classes.classrooms import AnswerRefused, Classrooms
from viz_app.serving.classes.polls import OwnQuestion, PollResult
from viz_app.serving.scheduling.rate_limit import RateLimit
from viz_app.serving.scheduling.request_queue import Visitor
from viz_app.serving.settings import TEACHER_KEY_SETTING, SettingError, teacher_key
from viz_app.serving.web import cookie_middleware, warm_up
from viz_app.text import texts
from viz_app.ui.classroom import class_membership

PAGE = {"accept": "text/html"}


class Clock:
    """A time that only the test moves on."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


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


def test_full_poll_makes_room_for_others(rooms: Classrooms, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
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


# --- a guessed teacher key -------------------------------------------------------------------------------------------


@pytest.fixture
def guess(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Callable[[str, str], bool | None]:
    """Try a key from an address; None where it is not even looked at."""
    monkeypatch.setenv(TEACHER_KEY_SETTING, "right-key")
    limit = RateLimit(class_membership.TRIES_PER_MINUTE / 60, class_membership.TRY_BURST, clock)
    monkeypatch.setattr(class_membership, "_tries", limit)

    def guess(key: str, address: str) -> bool | None:
        monkeypatch.setattr(class_membership, "current_visitor", lambda: Visitor(address))
        monkeypatch.setattr(st, "session_state", {})
        try:
            return class_membership.try_teacher_key(key)
        except class_membership.TooManyTries:
            return None

    return guess


def test_key_guessing(guess: Callable[[str, str], bool | None], clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    burst, per_minute = class_membership.TRY_BURST, class_membership.TRIES_PER_MINUTE
    with caplog.at_level(logging.WARNING):
        rows = [guess(f"guess {number}", "10.0.0.66") for number in range(1_000)]
    assert rows == [False] * burst + [None] * (1_000 - burst)
    assert len(caplog.records) == burst and "10.0.0.66" in caplog.text and "guess" not in caplog.text
    assert guess("right-key", "10.0.0.66") is None  # else the flood would go on
    assert guess("right-key", "10.0.0.7") is True
    clock.now += 60.0
    assert [guess("x", "10.0.0.66") for _ in range(2 * per_minute)].count(False) == min(burst, per_minute)


def test_short_key_is_refused_at_start(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(TEACHER_KEY_SETTING, "1234567")
    monkeypatch.setattr("viz_app.cli.app.run_server", lambda *_: 0)
    for command in ("app", "class"):
        monkeypatch.setattr(sys, "argv", ["headlight", command])
        assert headlight() == 2
        assert f"{TEACHER_KEY_SETTING} has 7 characters, but must have at least 8" in capsys.readouterr().err

    async def serve() -> None:
        async with warm_up.warm_up(None):
            pass

    with pytest.raises(SettingError, match="at least 8"):  # by Streamlit's own command
        asyncio.run(serve())
    monkeypatch.setenv(TEACHER_KEY_SETTING, "12345678")
    assert teacher_key() == "12345678"


# --- the answers in a spreadsheet ------------------------------------------------------------------------------------

FORMULAS = (
    *("=1+1", "+1", "-1", "@A1", "\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20A1"),
    *("\t=1", "\r=1", "\n=1", " =1", "\u200b=1", "x;=1+1", "x; =1+1", "x\r=1+1", "x\n=1+1", "x\t=1+1"),
    *("x;\uff1d1+1", 'x;"=1+1', "x;;@A1", "\r\n\r\n+1", "\u202e;\u202d=1"),
)


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_of_a_class_runs_in_a_spreadsheet(text: str) -> None:
    """Whatever separates cells where the file is opened."""
    question = OwnQuestion(text=text, choices=(text, f"b{text}"))
    table = results_table((PollResult(question=question, counts={0: 2}),), texts("en")).decode("utf-8-sig")
    assert not set(table) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    tables = [csv.reader(io.StringIO(table, newline=""), delimiter=delimiter) for delimiter in (",", ";", "\t")]
    for rows in tables:
        for cell in chain.from_iterable(rows):
            assert cell.lstrip(' \r\n\t"\u200b')[:1] not in tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def test_plain_text_of_a_class_stays_as_it_is() -> None:
    words = ("A head; it looks back - twice.", "x = 1; y = 2", "어텐션: a, b", 'say "no"')
    result = PollResult(question=OwnQuestion(text=words[0], choices=words), counts={})
    table = results_table((result,), texts("en")).decode("utf-8-sig")
    assert [row[2] for row in csv.reader(io.StringIO(table, newline=""))][1:] == list(words)
