"""The page Class, and what the other pages say of a class."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import visible
from viz_app.serving.classes.classrooms import Classrooms, Place
from viz_app.serving.classes.polls import LessonQuestion
from viz_app.serving.settings import SITE_SETTING, TEACHER_KEY_SETTING, SettingError, site_address
from viz_app.state.share_link import qr_rows, share_link
from viz_app.text import texts
from viz_app.ui.classroom import class_membership

T = texts("en")
TEACHER = "t" * 32
LESSON = LessonQuestion(lesson="masks", scene="predict", options=4, right=2)


@pytest.fixture(autouse=True)
def teacher(monkeypatch: pytest.MonkeyPatch) -> None:
    """The browser is the teacher's."""
    seen_as(monkeypatch, TEACHER)


def seen_as(monkeypatch: pytest.MonkeyPatch, browser: str | None, *, is_own: bool = False) -> None:
    for module in ("viz_app.ui.classroom.class_membership", "viz_app.serving.scheduling.visitor"):
        monkeypatch.setattr(f"{module}.current_browser", lambda: browser)
    monkeypatch.setattr(class_membership, "is_own_computer", lambda: is_own)


@pytest.fixture
def app(app: AppTest, rooms: Classrooms) -> AppTest:
    """The page Class."""
    app.switch_page("app_pages/classroom.py").run()
    return app


def press(app: AppTest, key: str) -> None:
    app.button(key=key).click().run()


def test_a_class_opens_asks_and_ends(app: AppTest, rooms: Classrooms) -> None:
    press(app, "class-open")
    code = rooms.code_of(TEACHER)
    assert code is not None
    press(app, "class-ask-next")
    first = rooms.look(code, TEACHER).question
    rooms.answer(code, "a", 1, 0)
    press(app, "class-ask-next")
    view = rooms.look(code, TEACHER)
    assert isinstance(first, LessonQuestion) and view.question != first and view.poll == 2
    app.text_input(key="class_own_text").set_value("Which layer?")
    press(app, "FormSubmitter:class-own-" + T("classroom.ask_own"))
    assert [each.value for each in app.warning] == [T("classroom.own_refused")], "it has no answers"
    assert rooms.look(code, TEACHER).poll == 2
    app.text_area(key="class_own_choices").set_value("first\n*last")
    press(app, "FormSubmitter:class-own-" + T("classroom.ask_own"))
    asked = rooms.look(code, TEACHER).question
    assert getattr(asked, "choices", None) == ("first", "last") and asked.right == 1  # type: ignore[union-attr]
    press(app, "class-end")
    assert rooms.code_of(TEACHER) is None


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0"])
def test_before_it_opens_the_page_says_what_students_need(
    bound: str, app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = share_link("http://localhost:8600/classroom", bound, "classroom", {}, "10.0.0.7", "classroom")
    monkeypatch.setattr("viz_app.ui.share_menu.share_link", lambda *_: seen)
    app.run()
    assert T("classroom.needs") in [each.value for each in app.markdown]
    # Who can be reached shows the address, who cannot the command; never both.
    is_reachable = bound == "0.0.0.0"
    assert [each.value for each in app.code] == [
        "http://10.0.0.7:8600/classroom" if is_reachable else "python -m viz_app class --port 8601",
        "python -m viz_app site --out site",  # for home
    ]
    assert (T("classroom.needs_test") in [each.value for each in app.caption]) == is_reachable
    press(app, "class-open")
    assert T("classroom.needs") not in [each.value for each in app.markdown]


def test_from_another_computer_a_class_needs_the_teacher_key(
    app: AppTest, rooms: Classrooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TEACHER_KEY_SETTING, "right-key")
    app.run()
    for wrong in ("", "wrong", "right-key2", "right"):
        app.text_input(key="class_key").set_value(wrong)
        press(app, "class-open")
        assert [each.value for each in app.warning] == [T("classroom.wrong_key")] and rooms.code_of(TEACHER) is None
    app.text_input(key="class_key").set_value(" right-key ")
    press(app, "class-open")
    assert rooms.code_of(TEACHER) is not None
    assert "right-key" not in str(dict(app.query_params))


def test_the_code_of_a_site_is_shown_where_one_is_set(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://example.org/heads/"

    def codes() -> list[dict[str, Any]]:
        shown = [each.proto for each in app.run().get("bidi_component")]
        return [json.loads(proto.json) for proto in shown if proto.component_name == "headlight_share_code"]

    assert [code["url"] for code in codes()] == ["http://192.0.2.2/classroom"]  # the app's own
    monkeypatch.setenv(SITE_SETTING, address)
    shown = codes()[-1]
    assert shown["url"] == address and shown["command"] == "" and address in visible(app)
    assert tuple(shown["rows"]) == qr_rows(address)
    for wrong in ("javascript:alert(1)", "https://a b", "example.org", "https://" + "a" * 600):
        monkeypatch.setenv(SITE_SETTING, wrong)
        with pytest.raises(SettingError, match="must be an address"):
            site_address()


def test_who_keeps_no_cookies_is_told(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    seen_as(monkeypatch, None)
    app.run()
    assert [each.value for each in app.warning] == [T("classroom.refused_cookie")]
    assert not [each for each in app.button if each.key == "class-open"]


def test_a_question_waits_until_there_is_a_class(app: AppTest, rooms: Classrooms) -> None:
    app.query_params.update({"lesson": "masks", "scene": "predict"})
    app.switch_page("app_pages/lessons.py").run()
    press(app, "ask-class")
    assert any(T("classroom.waits") in each.value for each in app.info)
    press(app, "class-open")
    code = rooms.code_of(TEACHER)
    assert code is not None and rooms.look(code, TEACHER).question == LESSON


def test_a_screen_that_leads_says_where_it_is(app: AppTest, rooms: Classrooms) -> None:
    code = rooms.open(TEACHER)
    rooms.lead(code, TEACHER, True)
    app.session_state["class_taught"], app.session_state["class_leads"] = code, True
    app.switch_page("app_pages/translate.py").run()
    place = rooms.look(code, TEACHER).place
    assert place is not None and place.page == "" and "text" in place.params and '"selection"' in place.view
    press(app, "class-line-0")
    assert not rooms.look(code, TEACHER).is_led


def test_a_student_goes_where_the_teacher_is(app: AppTest, rooms: Classrooms, monkeypatch: pytest.MonkeyPatch) -> None:
    code = rooms.open("teacher")
    rooms.lead(code, "teacher", True)
    rooms.show_place(code, "teacher", Place(page="", params={"text": "The dog."}))
    told = [1]
    monkeypatch.setattr(class_membership, "watch_teacher", lambda *_: told[0])
    app.session_state["class_followed"] = code
    app.run()
    assert app.text_area(key="text").value == "The dog."
    assert T("classroom.following", code=code) in app.markdown[0].value
    rooms.show_place(code, "teacher", Place(page="nowhere", params={}))
    told[0] = 2
    app.run()
    rooms.end(code, "teacher")
    told[0] = -1
    app.run()
    assert code not in app.markdown[0].value
