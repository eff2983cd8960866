"""Classes: who may do what, how answers are counted, what is forgotten; here, and where front ends share them."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz_app.serving.classes import classrooms as module
from viz_app.serving.classes.class_messages import MAX_CALL_BYTES, METHODS, Failure, call, result_of
from viz_app.serving.classes.classrooms import (
    AnswerRefused,
    Classrooms,
    NoSuchClass,
    NotTheTeacher,
    Place,
    TooManyClasses,
    is_code,
)
from viz_app.serving.classes.polls import AttentionQuestion, LessonQuestion, OwnQuestion, PollResult, Question
from viz_app.serving.classes.remote_classrooms import ClassServerAway, RemoteClassrooms

TEACHER = "teacher"
LESSON = LessonQuestion(lesson="masks", scene="predict", options=4, right=2)
OWN = OwnQuestion(text="Which layer?", choices=("first", "last", "none"), right=1)


class Clock:
    """A time that only the test moves on."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


class Distant(RemoteClassrooms):
    """Classes behind the messages of the network, without the network."""

    def __init__(self, store: Classrooms) -> None:
        super().__init__(("127.0.0.1", 1))
        self._store = store

    def _ask(self, method: str, data: bytes) -> Any:
        result = call(self._store, method, data)
        failed = isinstance(result, Failure)
        return result_of(method, msgspec.json.encode(result) if isinstance(result, Failure) else result, failed=failed)


Rooms = Classrooms | RemoteClassrooms


@pytest.fixture(params=["here", "shared"])
def rooms(clock: Clock, request: pytest.FixtureRequest) -> Rooms:
    store = Classrooms(clock)
    return store if request.param == "here" else Distant(store)


@pytest.fixture
def code(rooms: Rooms) -> str:
    return rooms.open(TEACHER)


def test_a_browser_has_one_class_and_finds_it_again(rooms: Rooms, code: str) -> None:
    assert is_code(code) and rooms.open(TEACHER) == code == rooms.code_of(TEACHER)
    assert rooms.code_of("somebody") is None
    assert rooms.open("another teacher") != code


def test_students_see_no_counts_before_the_teacher_reveals_them(rooms: Rooms, code: str) -> None:
    rooms.ask(code, TEACHER, LESSON)
    rooms.answer(code, "a", 1, 1)
    for state in ("open", "closed"):
        rooms.set_state(code, TEACHER, state)
        assert rooms.look(code, "a").counts is None and rooms.look(code, TEACHER).counts == {1: 1}
    rooms.set_state(code, TEACHER, "revealed")
    assert rooms.look(code, "a").counts == {1: 1}


def test_what_is_no_answer_is_refused_and_a_closed_poll_takes_none(rooms: Rooms, code: str) -> None:
    def refused(poll: int, option: int) -> bool:
        with pytest.raises(AnswerRefused):
            rooms.answer(code, "a", poll, option)
        return rooms.look(code, TEACHER).answers == 0

    assert refused(0, 0), "before the first question"
    rooms.ask(code, TEACHER, LESSON)
    assert all(refused(poll, option) for poll, option in ((1, 4), (1, -1), (2, 0), (0, 0)))
    for state in ("closed", "revealed"):
        rooms.set_state(code, TEACHER, state)
        assert refused(1, 0)
    rooms.set_state(code, TEACHER, "open")
    rooms.answer(code, "a", 1, 0)


def test_only_the_teachers_browser_leads(rooms: Rooms, code: str) -> None:
    acts = (("ask", LESSON), ("set_state", "closed"), ("lead", True), ("show_place", Place(page="lab", params={})))
    for method, *arguments in (*acts, ("results",), ("end",)):
        with pytest.raises(NotTheTeacher):
            getattr(rooms, method)(code, "a", *arguments)
    assert rooms.look(code, "a").poll == 0


def test_a_new_question_ends_the_one_before_and_keeps_what_came_of_it(rooms: Rooms, code: str) -> None:
    rooms.ask(code, TEACHER, LESSON)
    rooms.answer(code, "a", 1, 3)
    rooms.ask(code, TEACHER, OWN)
    view = rooms.look(code, "a")
    assert (view.poll, view.question, view.mine, view.answers) == (2, OWN, None, 0)
    assert rooms.results(code, TEACHER) == (PollResult(question=LESSON, counts={3: 1}),)  # nobody has answered OWN
    rooms.answer(code, "b", 2, 0)
    assert rooms.results(code, TEACHER)[1] == PollResult(question=OWN, counts={0: 1})


def test_a_place_is_seen_while_the_teacher_leads(rooms: Rooms, code: str) -> None:
    place = Place(page="lessons", params={"lesson": "masks"}, view="{}")
    rooms.show_place(code, TEACHER, place)
    assert rooms.look(code, "a").place is None
    rooms.lead(code, TEACHER, True)
    moves = rooms.look(code, "a").moves
    assert rooms.look(code, "a").place == place
    rooms.show_place(code, TEACHER, place)
    assert rooms.look(code, "a").moves == moves  # it is the same place
    rooms.show_place(code, TEACHER, Place(page="", params={}))
    assert rooms.look(code, "a").moves == moves + 1


def test_who_asks_no_more_has_left(rooms: Rooms, code: str, clock: Clock) -> None:
    rooms.look(code, "a")
    clock.now += module.PRESENT_SECONDS / 2
    rooms.look(code, "b")
    assert rooms.look(code, TEACHER).students == 2
    clock.now += module.PRESENT_SECONDS * 0.75
    assert rooms.look(code, TEACHER).students == 1


def test_a_class_that_ended_or_that_nobody_looks_at_is_forgotten(rooms: Rooms, code: str, clock: Clock) -> None:
    rooms.ask(code, TEACHER, LESSON)
    rooms.answer(code, "a", 1, 0)
    rooms.end(code, TEACHER)
    with pytest.raises(NoSuchClass):
        rooms.look(code, "a")
    again = rooms.open(TEACHER)
    assert rooms.results(again, TEACHER) == ()
    for _ in range(2):
        clock.now += module.IDLE_SECONDS - 1
        rooms.look(again, "a")
    clock.now += module.IDLE_SECONDS
    with pytest.raises(NoSuchClass):
        rooms.look(again, "a")


def test_classes_and_students_are_bounded(
    rooms: Rooms, code: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_CLASSES", 4)
    monkeypatch.setattr(module, "MAX_CLASSES_OF_ADDRESS", 2)
    monkeypatch.setattr(module, "MAX_STUDENTS", 3)
    for number in range(2):
        rooms.open(f"of one address {number}", "10.0.0.1")
    with pytest.raises(TooManyClasses):
        rooms.open("one more of it", "10.0.0.1")
    rooms.open("elsewhere", "10.0.0.2")
    with pytest.raises(TooManyClasses):
        rooms.open("one more of all", "10.0.0.3")
    clock.now += module.IDLE_SECONDS
    code = rooms.open("after an idle night", "10.0.0.1")
    rooms.ask(code, "after an idle night", LESSON)
    for student in range(3):
        rooms.answer(code, str(student), 1, 0)
        rooms.look(code, str(student))
    with pytest.raises(AnswerRefused):
        rooms.answer(code, "one more", 1, 0)
    rooms.answer(code, "2", 1, 1)  # who is in may still change
    rooms.look(code, "one more")
    assert rooms.look(code, "after an idle night").students == 3


def test_old_results_make_room(rooms: Rooms, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_POLLS", 3)
    for number in range(1, 7):
        rooms.ask(code, TEACHER, LESSON)
        rooms.answer(code, "a", number, number % 4)
    assert [list(each.counts) for each in rooms.results(code, TEACHER)] == [[3], [0], [1], [2]]


Act = tuple[str, int]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(-1, 5)), max_size=60))
def test_counts_are_those_of_the_last_answers(acts: list[Act]) -> None:
    rooms = Classrooms()
    code = rooms.open(TEACHER)
    rooms.ask(code, TEACHER, LESSON)
    last: dict[str, int] = {}
    for student, option in acts:
        try:
            rooms.answer(code, student, 1, option)
            last[student] = option
        except AnswerRefused:
            assert not 0 <= option < LESSON.options
    assert rooms.look(code, TEACHER).counts == dict(Counter(last.values()))


def test_thirty_threads_lose_no_answer(rooms: Rooms, code: str) -> None:
    rooms.ask(code, TEACHER, LESSON)

    def student(number: int) -> None:
        for option in (0, 1, number % 4):
            rooms.answer(code, str(number), 1, option)
            rooms.look(code, str(number))

    threads = [threading.Thread(target=student, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert rooms.look(code, TEACHER).counts == {0: 8, 1: 8, 2: 7, 3: 7}


def attention(**changes: Any) -> dict[str, Any]:
    plain = {"type": "attention", "head": "encoder.5.3", "queries": ["it"], "keys": ["the", "dog"]}
    return {**plain, "weights": [0.25, 0.75], **changes}


@pytest.mark.parametrize(
    "hostile",
    [
        attention(weights=[0.5]),
        attention(weights=[0.5, float("inf")]),
        attention(weights=[0.5, -1.0]),
        attention(head="encoder.5.3<script>"),
        attention(queries=[]),
        attention(keys=["x" * 65, "dog"]),
        attention(queries=["q"] * 65, keys=["k"] * 64, weights=[0.0] * 65 * 64),
        {"type": "own", "text": "", "choices": ["a", "b"]},
        {"type": "own", "text": "a", "choices": ["a"]},
        {"type": "own", "text": "a", "choices": ["a"] * 9},
        {"type": "own", "text": "a", "choices": ["a", "b"], "right": 2},
        {"type": "lesson", "lesson": "../masks", "scene": "predict", "options": 4, "right": 0},
        {"type": "lesson", "lesson": "masks", "scene": "predict", "options": 1_000_000, "right": 0},
    ],
)
def test_a_hostile_question_is_refused(hostile: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(hostile, Question)


def test_a_question_comes_back_from_json() -> None:
    asked: Question = msgspec.convert(attention(), Question)
    assert isinstance(asked, AttentionQuestion) and asked.right == 1 and asked.options == 2
    for question in (asked, LESSON, OWN):
        result = PollResult(question=question, counts={0: 3})
        assert msgspec.json.decode(msgspec.json.encode(result), type=PollResult) == result


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("__init__", b"[]"),
        ("_class", b'["ABCDEF"]'),
        ("look", b""),
        ("look", b'["ABCDEF"]'),
        ("look", b'["ABCDEF", 1]'),
        ("look", b"\xff"),
        ("set_state", b'["ABCDEF", "a", "destroyed"]'),
        ("ask", b'["ABCDEF", "a", {"type": "own", "text": "", "choices": []}]'),
        ("open", b'["a", "' + b"x" * MAX_CALL_BYTES + b'"]'),
    ],
)
def test_what_is_no_call_does_nothing(method: str, arguments: bytes) -> None:
    assert call(Classrooms(), method, arguments) == Failure("Call")


def test_every_method_can_be_called_from_afar() -> None:
    public = {name for name in vars(Classrooms) if not name.startswith("_")}
    assert public == set(METHODS) and len(public) == 11
    with pytest.raises(AttributeError):
        RemoteClassrooms(("127.0.0.1", 1)).forget  # noqa: B018


def test_a_server_that_is_away_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz_app.serving.classes.remote_classrooms._PAUSES", (0.0,))
    with pytest.raises(ClassServerAway):
        RemoteClassrooms(("127.0.0.1", 1)).open(TEACHER)
