"""Classes on a server that is killed, and the file that brings them back."""

from __future__ import annotations

import asyncio
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
from pathlib import Path

import pytest

from viz_app.serving import browser_cookie
from viz_app.serving.browser_cookie import sign_with, signed
from viz_app.serving.classes import class_file, classrooms
from viz_app.serving.classes import class_store as store_module
from viz_app.serving.classes.class_file import MAX_FILE_BYTES, STATE_SETTING
from viz_app.serving.classes.class_store import class_store, start_classes
from viz_app.serving.classes.classrooms import Classrooms, Place, keep_in_file
from viz_app.serving.classes.polls import OwnQuestion
from viz_app.serving.classes.remote_classrooms import ClassServerAway, RemoteClassrooms
from viz_app.serving.web import warm_up

TEACHER = "teacher"
QUESTION = OwnQuestion(text="Which layer?", choices=("first", "last"), right=1)
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


def saved(state: Path) -> None:
    """The file of a server with two classes."""
    store = Classrooms()
    keep_in_file(store, "8501")
    for teacher in (TEACHER, "another"):
        store.ask(store.open(teacher), teacher, QUESTION)
    file_in(state).write_bytes(store._changed() or b"")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "class": lambda file: file.write_bytes(file.read_bytes().replace(b'"owner":"another"', b'"owner":3')),
    "secret": lambda file: file.write_bytes(file.read_bytes().replace(b'"secret":"', b'"secret":"!')),
    "huge": lambda file: os.truncate(file, MAX_FILE_BYTES + 1),
    "link": lambda file: file.symlink_to(file.rename(file.with_name("elsewhere"))),
    "old": lambda file: os.utime(file, (time.time() - classrooms.IDLE_SECONDS - 1,) * 2),
    "readable by others": lambda file: file.parent.chmod(0o755),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_in_the_file_is_left_out(state: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    saved(state)
    DAMAGES[damage](file_in(state))
    store = Classrooms()
    with caplog.at_level(logging.WARNING):
        keep_in_file(store, "8501")
    said = {"old": "", "readable by others": "would not survive"}.get(damage, "not restored")
    assert said in caplog.text
    assert (store.code_of(TEACHER) is not None) == (damage == "class") and store.code_of("another") is None


def test_the_file_is_bounded(state: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(class_file, "MAX_FILE_BYTES", 100)
    store = Classrooms()
    save = keep_in_file(store, "8501")
    store.ask(store.open(TEACHER), TEACHER, QUESTION)
    save()
    assert "more than 100 bytes" in caplog.text and not file_in(state).exists()


def test_a_server_restores_its_classes_before_it_serves(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And saves them at its end, such as by SIGTERM, without waiting for the second."""
    monkeypatch.setattr(warm_up, "_prepare", lambda stopping: None)
    monkeypatch.setattr(class_file, "_SECONDS", 1e6)

    async def serve() -> tuple[str, str]:
        class_store.cache_clear()
        async with warm_up.warm_up(None):
            return signed("0" * 32), class_store().open(TEACHER)

    assert asyncio.run(serve()) == asyncio.run(serve())


def test_an_idle_class_leaves_the_file() -> None:
    now = 0.0
    store = Classrooms(lambda: now)
    store.open(TEACHER)
    assert TEACHER.encode() in (store._changed() or b"") and store._changed() is None
    now = float(classrooms.IDLE_SECONDS)
    assert json.loads(store._changed() or b"")["classes"] == {}


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
