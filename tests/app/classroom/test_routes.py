"""Requests of a student's page and of the teacher's board."""

from __future__ import annotations

import re

import pytest

from tests.app.classroom.asgi import HOST, Browser
from viz_app.serving.browser_cookie import COOKIE, browser_name
from viz_app.serving.classes.classrooms import Classrooms, Place
from viz_app.serving.classes.polls import AttentionQuestion, LessonQuestion, OwnQuestion

LESSON = LessonQuestion(lesson="masks", scene="predict", options=4, right=2)
HEAD = AttentionQuestion(head="cross.6.4", queries=("Hund",), keys=("the", "dog"), weights=(0.25, 0.75))
TEACHER, STUDENT = Browser("a" * 32), Browser("b" * 32)
OWNER = browser_name({COOKIE: TEACHER.cookie}) or ""


@pytest.fixture
def code(rooms: Classrooms) -> str:
    return rooms.open(OWNER)


def test_a_student_answers_and_sees_the_result_when_it_is_revealed(rooms: Classrooms, code: str) -> None:
    rooms.ask(code, OWNER, LESSON)
    view = STUDENT.get(f"/join/{code.lower()}/state?lang=en").json  # a code may be typed in small letters
    assert (view["poll"], view["state"], view["teacher"], view["mine"]) == (1, "open", False, None)
    question = view["question"]
    assert len(question["choices"]) == 4 and question["right"] is None and not question["answer"]
    answer, reveal = {"poll": 1, "option": 2}, {"state": "revealed"}
    assert STUDENT.post(f"/join/{code}/answer", answer, origin="https://evil.example").status == 403
    assert rooms.look(code, OWNER).answers == 0, "another site cannot answer for a visitor"
    view = STUDENT.post(f"/join/{code}/answer", answer, origin=f"http://{HOST}").json
    assert view["mine"] == 2 and view["counts"] is None
    assert TEACHER.get(f"/join/{code}/state").json["counts"] == [[2, 1]]
    refused = STUDENT.post(f"/join/{code}/control", reveal)
    assert (refused.status, refused.json) == (403, {"refused": "not_teacher"})
    assert STUDENT.get(f"/join/{code}/state").json["state"] == "open"
    assert TEACHER.post(f"/join/{code}/control", reveal).status == 200
    view = STUDENT.get(f"/join/{code}/state").json
    assert view["counts"] == [[2, 1]] and view["question"]["right"] == 2 and view["question"]["answer"]
    rooms.show_place(code, OWNER, Place(page="lab", params={"text": "A dog."}, view="{}"))
    assert STUDENT.get(f"/join/{code}/state").json["place"] is None, "told while the teacher leads"
    rooms.lead(code, OWNER, True)
    place = STUDENT.get(f"/join/{code}/state").json["place"]
    assert place == {"page": "lab", "params": {"text": "A dog."}, "view": "{}"}


def test_everybody_reads_the_question_in_his_own_language(rooms: Classrooms, code: str) -> None:
    rooms.ask(code, OWNER, LESSON)
    english = STUDENT.get(f"/join/{code}/state?lang=en").json["question"]["title"]
    korean = STUDENT.get(f"/join/{code}/state", accept_language="ko-KR,ko;q=0.9").json["question"]["title"]
    assert english == "What stays as it was?" and re.search("[가-힣]", korean)
    assert 'lang="ko"' in STUDENT.get(f"/join/{code}?lang=ko", accept="text/html").body.decode()


def test_the_weights_of_a_head_stay_hidden_until_they_are_revealed(rooms: Classrooms, code: str) -> None:
    rooms.ask(code, OWNER, HEAD)
    answer = STUDENT.get(f"/join/{code}/state")
    assert b"0.75" not in answer.body and answer.json["question"]["right"] is None
    assert "Hund" in str(answer.json["question"]["prose"])
    rooms.set_state(code, OWNER, "revealed")
    assert STUDENT.get(f"/join/{code}/state").json["question"]["weights"] == [0.25, 0.75]


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"", 400, "form"),
        (b"\xff\xfe\x00", 400, "form"),
        (b"[" * 150, 400, "form"),
        ({"poll": 1}, 400, "form"),
        ({"poll": 1, "option": "2"}, 400, "form"),
        ({"poll": 1, "option": 1.5}, 400, "form"),
        ({"poll": 1, "option": 2, "name": "Kim"}, 400, "form"),
        ({"poll": 10**40, "option": 0}, 409, "closed"),
        ({"poll": 1, "option": 4}, 409, "closed"),
        ({"poll": 7, "option": 0}, 409, "closed"),
        (b"x" * 1_000_000, 413, "size"),
    ],
)
def test_nonsense_is_refused(rooms: Classrooms, code: str, body: object, status: int, reason: str) -> None:
    rooms.ask(code, OWNER, LESSON)
    answer = STUDENT.post(f"/join/{code}/answer", body)
    assert (answer.status, answer.json) == (status, {"refused": reason})
    assert rooms.look(code, OWNER).answers == 0


@pytest.mark.parametrize("path", ["/join/ZZZZZZ/state", "/join/..%2f..%2fetc/state", "/join/<script>/state"])
def test_what_is_no_class_is_not_found(rooms: Classrooms, code: str, path: str) -> None:
    answer = STUDENT.get(path)
    assert answer.status == 404
    page = STUDENT.get(path.removesuffix("/state"), accept="text/html").body
    assert b"<script>" not in page


def test_a_browser_gets_its_cookie_with_the_page_and_keeps_it(rooms: Classrooms, code: str) -> None:
    new = Browser("")
    assert new.get(f"/join/{code}/state?given=1").json == {"refused": "cookie"}
    cookie = new.get(f"/join/{code}", accept="text/html,*/*").headers["set-cookie"]
    result = re.fullmatch(rf"{COOKIE}=([0-9a-f]{{64}}); Path=/; HttpOnly; SameSite=Lax", cookie)
    assert result
    new.cookie = result[1]
    assert "set-cookie" not in new.get(f"/join/{code}", accept="text/html").headers
    assert new.get(f"/join/{code}/state").status == 200
    forged = Browser("")
    forged.cookie = "<b>forged</b>"
    assert (
        forged.get(f"/join/{code}/state").json == {"refused": "new"}
        and "set-cookie" in forged.get(f"/join/{code}", accept="text/html").headers
    )


def test_neither_cookie_nor_key_is_told(rooms: Classrooms, code: str) -> None:
    """The name that the server knows is a hash, and stands in no answer either."""
    rooms.ask(code, OWNER, LESSON)
    for path in (f"/join/{code}", f"/join/{code}/state", "/join/app.js"):
        body = TEACHER.get(path, accept="text/html").body
        assert TEACHER.cookie.encode() not in body and OWNER.encode() not in body
    assert TEACHER.cookie not in OWNER


def test_text_of_a_teacher_is_no_markup(rooms: Classrooms, code: str) -> None:
    text = "</script><img src=x onerror=alert(1)> {{data}}"
    rooms.ask(code, OWNER, OwnQuestion(text=text, choices=(text, "b")))
    answer = STUDENT.get(f"/join/{code}/state")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json["question"]["prose"] == [["p", {}, [text]]]


def test_the_routes_stand_below_the_path_of_the_server(rooms: Classrooms, code: str) -> None:
    behind = Browser(base="/headlight/")
    assert behind.get(f"/headlight/join/{code}/state").status == 200
    assert behind.get(f"/join/{code}/state").status == 404
    assert behind.get("/headlight/join/app.js").headers["content-type"].startswith("text/javascript")
    assert b".poll" in behind.get("/headlight/join/app.css").body
