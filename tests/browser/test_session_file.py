"""The session file in a browser: saved in one, opened in another, with the keyboard alone; files that are none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.app_driver import WORKED, params, saved, sideways, wait_for_params, wait_for_translation
from tests.browser.conftest import CheckAccessibility, OpenPage
from tests.browser.explorer_driver import state
from tests.browser.lesson_driver import Lesson
from tests.browser.rest import rest, until
from viz_app.state.session_file import FILE_NAME, MAX_BYTES, VERSION
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

TEXT = "She is waiting for the bus."
START = "kind=cross&layer=4&head=2&pin=q2&against=cross.2.3&other=plotly"
PAGES = ("translate", "lab", "lessons", "figures", "model")
VALID: dict[str, Any] = {"format": "headlight-session", "version": 1}
T = texts("en")


def go(page: Page, name: str, language: str = "en") -> None:
    """To a page, until it has drawn and said in the address what it shows."""
    page.get_by_role("link", name=texts(language)(f"nav.{name}"), exact=True).click()
    assert until(page, lambda: page.url.split("?")[0].endswith("/" if name == "translate" else f"/{name}"))
    if name in ("lab", "lessons"):
        Lesson(page).wait("!lesson.scene.waits || lesson.scene.own")
    rest(page)


def dialog(page: Page, language: str = "en") -> Locator:
    """The dialog, opened with the keyboard."""
    t = texts(language)
    page.on("filechooser", lambda _: None)  # Playwright takes a moment until it sees a choice of files
    page.get_by_role("button", name=t("session.menu"), exact=True).focus()
    page.keyboard.press("Enter")
    found = page.get_by_role("dialog", name=t("session.title"))
    found.get_by_role("button", name=t("session.open"), exact=True).wait_for()
    rest(page)  # the dialog takes the focus when it is open
    return found


def choose(page: Page, data: bytes, language: str = "en") -> None:
    """Open a file from the dialog that is open, with the keyboard."""
    page.get_by_role("dialog").get_by_role("button", name=texts(language)("session.open"), exact=True).focus()
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files({"name": FILE_NAME, "mimeType": "application/json", "buffer": data})


def looks() -> dict[str, Callable[[Page], object]]:
    """What is to be the same on each page, beside the address."""
    return {
        "translate": lambda page: (
            state(page, "zoom"),
            state(page, "pin"),
            page.get_by_role("radio", name=T("other.plotly")).is_checked(),
        ),
        "lab": lambda page: (
            Lesson(page).settings(),
            page.locator(".findings figcaption").all_inner_texts(),
            page.locator(".findings a").first.get_attribute("href"),
        ),
        "lessons": lambda page: (Lesson(page).settings(), Lesson(page).said()),
        "figures": lambda page: (
            page.locator(".st-key-figures-paper img").get_attribute("alt"),
            page.locator(".st-key-figures-collected p").all_inner_texts(),
            page.get_by_role("button", name=T("figures_page.added"), exact=True).count(),
        ),
        "model": lambda page: page.locator(".growth canvas").count(),
    }


RUNS = """() => {
    window.runs = 0;  // beginnings and ends: one that is over within a frame is seen as well
    new MutationObserver((changes) => { window.runs += changes.length; })
        .observe(document, { attributeFilter: ["data-test-script-state"], subtree: true });
}"""


def until_python_knows(page: Page, act: Callable[[], object]) -> None:
    """Do what the browser tells Python at once, and wait for the run that this starts: a busy server takes its time."""
    rest(page)
    page.wait_for_timeout(1_000)  # what was done before may be told only now
    rest(page)
    page.evaluate(RUNS)
    act()
    page.wait_for_function("window.runs > 0")
    rest(page)


def set_up(page: Page) -> None:
    """Something on each page that is not as at the start."""
    wait_for_params(page, pin="q2")
    rest(page)
    go(page, "lab")
    lesson = Lesson(page)
    lesson.press("ArrowRight")
    until_python_knows(page, lambda: lesson.click(T("lesson.finding_pin")))
    page.get_by_role("link", name=T("nav.lessons"), exact=True).click()
    page.locator(".index button.start").wait_for()
    page.locator(".index button.stop").filter(has_text=re.compile("mask", re.IGNORECASE)).first.click()
    lesson = Lesson(page)
    lesson.press("PageDown", "ArrowRight")
    rest(page)
    go(page, "figures")
    page.get_by_role("button", name=T("figures_page.add"), exact=True).click()
    page.get_by_role("button", name=T("figures_page.added"), exact=True).wait_for()
    rest(page)


@pytest.mark.slow
def test_a_session_goes_on_in_another_browser(
    open_page: OpenPage, app_url: str, tmp_path: Path, check_accessibility: CheckAccessibility
) -> None:
    page = open_page(f"{app_url}/?lang=en&text={TEXT.replace(' ', '+')}&{START}", still=True)
    set_up(page)
    shown = {}
    for name in PAGES:
        go(page, name)
        shown[name] = (params(page), looks()[name](page))
    go(page, "lab")
    dialog(page)
    check_accessibility(page)
    first = saved(page, T("session.save"), tmp_path)
    assert first.name == FILE_NAME

    other = open_page(f"{app_url}/figures?lang=en&size=a4", still=True)
    dialog(other)
    choose(other, first.read_bytes())
    other.get_by_text(T("session.opened").removesuffix(".")).wait_for()
    assert until(other, lambda: other.get_by_role("dialog").count() == 0)
    assert until(other, lambda: other.url.split("?")[0].endswith("/lab")), other.url
    for name in PAGES:
        go(other, name)
        assert until(other, lambda name=name: params(other) == shown[name][0]), (name, params(other), shown[name][0])  # type: ignore[misc]
        assert until(other, lambda name=name: looks()[name](other) == shown[name][1]), (  # type: ignore[misc]
            name,
            looks()[name](other),
            shown[name][1],
        )
    check_accessibility(other)
    go(other, "lab")
    check_accessibility(other)
    dialog(other)
    second = saved(other, T("session.save"), tmp_path / "second")
    assert json.loads(second.read_bytes()) == json.loads(first.read_bytes())


def test_a_head_that_was_switched_off_is_off_and_can_be_switched_on(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/?lang=en", still=True)
    page.locator(".explorer .tile").first.wait_for()
    selection = {"kind": "encoder", "layer": 1, "head": 2}
    dialog(page)
    choose(
        page, json.dumps({**VALID, "text": TEXT, "explorer": {"selection": selection, "off": "encoder.1.2"}}).encode()
    )
    wait_for_params(page, text=TEXT, kind="encoder", layer="2", head="3")
    page.locator(".off .off-line").nth(1).wait_for()
    page.locator(".off-button").click()
    assert until(page, lambda: state(page, "off") is None)
    rest(page)
    assert page.locator(".off").is_hidden() and state(page, "off") is None


HOSTILE = {
    "format": (b"PK\x03\x04 a zip", T("session.problem_json")),
    "picture": (b"{}", T("session.problem_format")),
    "script": (
        json.dumps({**VALID, "page": "</script><script>alert(1)</script>"}).encode(),
        T("session.problem_invalid", place="$.page"),
    ),
    "path": (
        json.dumps({**VALID, "model": {"name": "../../etc"}}).encode(),
        T("session.problem_invalid", place="$.model.name"),
    ),
    "large": (b" " * (MAX_BYTES + 1), T("session.problem_size", most="512")),
}


def test_a_file_that_is_none_changes_nothing(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/figures?lang=en&text=The+dog+sleeps.&size=a4", still=True)
    rest(page)
    before = params(page)
    alert = dialog(page).get_by_role("alert")
    for data, message in HOSTILE.values():
        choose(page, data)
        told = " ".join(message.replace("`", "").split())
        assert until(page, lambda told=told: alert.count() == 1 and told in " ".join(alert.inner_text().split())), told  # type: ignore[misc]
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    rest(page)
    assert params(page) == before and before["size"] == "a4"


@pytest.mark.parametrize(("language", "width", "dark"), WORKED)
def test_a_missing_model_and_a_newer_version_are_told(
    language: str, width: int, dark: bool, open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    t = texts(language)
    page = open_page(f"{app_url}/lessons?lang=en", width=width, height=844, dark=dark, still=True)
    newer = {
        **VALID,
        "version": VERSION + 1,
        "language": language,
        "text": "The dog sleeps.",
        "model": {"name": "<b>own"},
        "weather": "fine",
    }
    dialog(page)
    choose(page, json.dumps(newer).encode(), language="en")
    page.get_by_text(t("session.note_newer")).wait_for()
    page.get_by_text(t("models.missing", wanted="<b>own", now="\0").split("\0")[0].strip()).wait_for()
    wait_for_params(page, lang=language, text="The dog sleeps.")
    wait_for_translation(page, "Der Hund schläft.", language)
    assert sideways(page) == 0
    rest(page)
    check_accessibility(page, "dark", "light")
    page.get_by_role("button", name=t("session.read"), exact=True).click()
    page.get_by_text(t("session.note_newer")).wait_for(state="detached")
