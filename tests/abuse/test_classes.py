"""A class among strangers: their cookies, their answers in masses, their guesses, and a server that is killed."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import logging
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest
import streamlit as st
from hypothesis import given, settings, strategies
from starlette.requests import HTTPConnection
from streamlit.web.server.starlette.starlette_app_utils import validate_xsrf_token

from tests.app.classroom.asgi import Browser
from viz_app.classroom import routes
from viz_app.classroom.results import results_table
from viz_app.cli import headlight
from viz_app.serving import browser_cookie
from viz_app.serving.browser_cookie import browser_name, sign_with, signed
from viz_app.serving.classes import class_file, classrooms
from viz_app.serving.classes import class_store as store_module
from viz_app.serving.classes.class_file import MAX_FILE_BYTES, STATE_SETTING
from viz_app.serving.classes.class_store import class_store, start_classes
from viz_app.serving.classes.classrooms import AnswerRefused, Classrooms, Place, keep_in_file
from viz_app.serving.classes.polls import OwnQuestion, PollResult
from viz_app.serving.classes.remote_classrooms import ClassServerAway, RemoteClassrooms
from viz_app.serving.scheduling.rate_limit import RateLimit
from viz_app.serving.scheduling.request_queue import Visitor
from viz_app.serving.settings import TEACHER_KEY_SETTING, SettingError, teacher_key
from viz_app.serving.web import cookie_middleware, warm_up
from viz_app.text import texts
from viz_app.ui.classroom import class_membership

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


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(strategies.text(strategies.characters(max_codepoint=255)))
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


# --- a server that is killed in mid-class ----------------------------------------------------------------------------

SERVER = """
import time
from viz_app.cli import headlight
from viz_app.serving import browser_cookie
from viz_app.serving.browser_cookie import signed
from viz_app.serving.classes.class_store import class_store, start_classes
from viz_app.serving.classes.classrooms import Place
from viz_app.serving.classes.polls import OwnQuestion

start_classes("8501")
store = class_store()
code = store.open("teacher", "10.0.0.1")
for number in (1, 2):
    store.ask(code, "teacher", OwnQuestion(text="Which layer?", choices=("first", "last"), right=1))
    for student in range(5):
        store.answer(code, f"student {student}", number, student % 2, "10.0.0.5")
store.lead(code, "teacher", True)
store.show_place(code, "teacher", Place(page="lab", params={"text": "A dog."}))
print(code, signed("0" * 32), flush=True)
time.sleep(60)
"""


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for what survives a restart; the secret of the other tests comes back."""
    monkeypatch.setenv(STATE_SETTING, str(tmp_path))
    secret = browser_cookie._Signature.secret
    yield tmp_path
    sign_with(secret)
    class_store.cache_clear()


def file_in(state: Path) -> Path:
    """The file that a server keeps, within seconds."""
    return next(state.glob("headlight-*-8501")) / "classes.json"


@pytest.mark.process
def test_a_class_survives_a_killed_server(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        code, cookie = server.stdout.readline().split()
        while not (file := file_in(state)).exists() or b"A dog." not in file.read_bytes():
            assert server.poll() is None
        server.send_signal(signal.SIGKILL)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert b"10.0.0.5" not in file.read_bytes() and b"origins" not in file.read_bytes()
    class_store.cache_clear()
    start_classes("8501")
    rooms = class_store()
    assert signed("0" * 32) == cookie and rooms.code_of(TEACHER) == code == rooms.open(TEACHER)
    view = rooms.look(code, "student 3")
    assert (view.poll, view.state, view.question, view.answers, view.mine) == (2, "open", QUESTION, 5, 1)
    assert view.place == Place(page="lab", params={"text": "A dog."}) and view.moves == 1
    rooms.answer(code, "student 3", 2, 0)
    assert [each.counts for each in rooms.results(code, TEACHER)] == [{0: 3, 1: 2}, {0: 4, 1: 1}]
    monkeypatch.setattr(classrooms, "MAX_STUDENTS", 5)  # restored answers make room as well
    rooms.answer(code, "student 5", 2, 0, "10.0.0.9")
    assert rooms.look(code, TEACHER).answers == 5
    rooms.end(code, TEACHER)
    assert json.loads(rooms._changed() or b"")["classes"] == {}


def saved(state: Path) -> bytes:
    """The file of a server with two classes."""
    store = Classrooms()
    keep_in_file(store, "8501")
    for teacher in (TEACHER, "another"):
        store.ask(store.open(teacher), teacher, QUESTION)
    data = store._changed()
    assert data is not None
    file_in(state).write_bytes(data)
    return data


@pytest.mark.parametrize("damage", ["class", "secret", "huge", "link"])
def test_what_is_damaged_in_the_file_is_left_out(state: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    data, file = saved(state), file_in(state)
    if damage == "class":
        file.write_bytes(data.replace(b'"owner":"another"', b'"owner":3'))
    elif damage == "secret":
        file.write_bytes(data.replace(b'"secret":"', b'"secret":"!'))
    elif damage == "huge":
        with file.open("r+b") as opened:
            opened.truncate(MAX_FILE_BYTES + 1)
    else:
        file.rename(file.with_name("elsewhere"))
        file.symlink_to("elsewhere")
    store = Classrooms()
    with caplog.at_level(logging.WARNING):
        keep_in_file(store, "8501")
    assert "not restored" in caplog.text
    assert (store.code_of(TEACHER) is not None) == (damage == "class") and store.code_of("another") is None


def test_a_folder_that_others_can_read_is_not_used(state: Path, caplog: pytest.LogCaptureFixture) -> None:
    saved(state)
    file_in(state).parent.chmod(0o755)
    store = Classrooms()
    keep_in_file(store, "8501")
    assert store.code_of(TEACHER) is None and "would not survive" in caplog.text


def test_the_file_is_bounded(state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(class_file, "MAX_FILE_BYTES", 100)
    store = Classrooms()
    save = keep_in_file(store, "8501")
    store.ask(store.open(TEACHER), TEACHER, QUESTION)
    save()
    assert "more than 100 bytes" in caplog.text and not file_in(state).exists()


def test_an_old_file_is_forgotten(state: Path) -> None:
    saved(state)
    long_ago = time.time() - classrooms.IDLE_SECONDS - 1
    os.utime(file_in(state), (long_ago, long_ago))
    store = Classrooms()
    keep_in_file(store, "8501")
    assert store.code_of(TEACHER) is None


def test_an_idle_class_leaves_the_file(clock: Clock) -> None:
    store = Classrooms(clock)
    store.open(TEACHER)
    assert TEACHER.encode() in (store._changed() or b"") and store._changed() is None
    clock.now += classrooms.IDLE_SECONDS
    assert json.loads(store._changed() or b"")["classes"] == {}


def test_a_server_restores_its_classes_before_it_serves(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And saves them at its end, such as by SIGTERM, without waiting for the second."""
    monkeypatch.setattr(warm_up, "_prepare", lambda stopping: None)
    monkeypatch.setattr(class_file, "_SECONDS", 1e6)

    async def serve() -> tuple[str, str]:
        class_store.cache_clear()
        async with warm_up.warm_up(None):
            return signed("0" * 32), class_store().open(TEACHER)

    assert asyncio.run(serve()) == asyncio.run(serve())


def test_front_ends_of_a_model_server_sign_alike(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Front(RemoteClassrooms):
        answers = 0

        def cookie_secret(self) -> bytes:
            Front.answers += 1
            if Front.answers == 1:
                raise ClassServerAway  # it starts later than this front end
            if Front.answers > 2:
                threading.Event().wait()  # for good: the test has seen enough
            return b"s" * 32

    monkeypatch.setattr(store_module, "class_store", lambda: Front(("127.0.0.1", 1)))
    monkeypatch.setattr(store_module, "_SECONDS", 0.01)
    start_classes("8501")
    for _ in range(1_000):
        if browser_cookie._Signature.secret == b"s" * 32:
            break
        time.sleep(0.01)
    assert browser_cookie._Signature.secret == b"s" * 32
    assert not list(state.iterdir())  # the model server has the file


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


def test_keys_are_guessed_slowly_and_leave_a_trace(
    guess: Callable[[str, str], bool | None], clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    burst, per_minute = class_membership.TRY_BURST, class_membership.TRIES_PER_MINUTE
    with caplog.at_level(logging.WARNING):
        rows = [guess(f"guess {number}", "10.0.0.66") for number in range(1_000)]
    assert rows == [False] * burst + [None] * (1_000 - burst)
    assert len(caplog.records) == burst and "10.0.0.66" in caplog.text and "guess" not in caplog.text
    assert guess("right-key", "10.0.0.66") is None  # else the flood would go on
    assert guess("right-key", "10.0.0.7") is True
    clock.now += 60.0
    assert [guess("x", "10.0.0.66") for _ in range(2 * per_minute)].count(False) == min(burst, per_minute)


def test_a_short_key_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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
