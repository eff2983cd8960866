"""A class: phones answer, the teacher's board counts, screens follow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.app_driver import LOCALES, wait_for_params
from tests.browser.conftest import CheckAccessibility, _watch
from tests.browser.rest import PAGE_MILLISECONDS, settled, until, wait_until_idle
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
SCREEN = {"width": 1280, "height": 720}

NewPage = Callable[..., "Page"]


class Teacher:
    """A teacher, before the class begins.

    Args:
        page: In the teacher's browser.
        url: Of the app.
        language: That the page is in.
    """

    code = ""

    def __init__(self, page: Page, url: str, language: str = "en") -> None:
        self.page, self.url, self._t = page, url, texts(language)
        page.goto(f"{url}/classroom")
        self.button("open").wait_for()

    def begin(self) -> None:
        """Open the class."""
        self.button("open").click()
        self.code = self.page.locator(".board-code").inner_text()

    def button(self, name: str) -> Locator:
        """A button of the board or of the page, by its label."""
        return self.page.get_by_role("button", name=self._t(f"classroom.{name}"), exact=True)

    def press(self, *names: str) -> None:
        """Buttons, one after the other."""
        for name in names:
            self.button(name).click()

    def ask(self) -> None:
        """Ask about what the page shows."""
        self.page.locator(".st-key-ask-class button").click()

    def visit(self, address: str) -> None:
        """Go to a page of the app."""
        self.page.goto(f"{self.url}/{address}")

    def counts(self) -> list[int]:
        """Answers by option, as the board shows them."""
        return [int(text.split()[0]) for text in self.page.locator(".board .count").all_inner_texts()]

    def wait_for_answers(self, count: int) -> None:
        """Until the board has counted so many."""
        start, _, _ = self._t("classroom.board_answers", answers=count, students="|").partition("|")
        self.page.locator(".board-said", has_text=re.compile(f"^{re.escape(start)}")).wait_for()

    def lead(self) -> None:
        """Let students follow this screen."""
        self.page.locator(".st-key-class_lead label").first.click()
        self.page.locator(".st-key-class-line").wait_for()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[NewPage]:
    """A page in a browser of its own."""
    contexts: list[Any] = []

    def start(*, dark: bool = False, locale: str = "en-US", **window: Any) -> Page:
        window = {"viewport": SCREEN, **window}
        contexts.append(browser.new_context(locale=locale, color_scheme="dark" if dark else "light", **window))
        contexts[-1].set_default_timeout(PAGE_MILLISECONDS)
        _watch.attach(contexts[-1])
        page: Page = contexts[-1].new_page()
        return page

    yield start
    for context in contexts:
        context.close()
    _watch.check()


def joined(page: Page, teacher: Teacher) -> Page:
    """A student's phone in the class."""
    page.goto(f"{teacher.url}/join/{teacher.code}")
    page.locator("main .said:not(:empty)").wait_for()
    return page


LOOKS = [(*LOCALES[0], 3), pytest.param("en-US", False, 30, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("locale", "dark", "count"), LOOKS)
def test_phones_answer_and_change_their_minds_but_never_learn_the_key(
    new_page: NewPage, app_url: str, check_accessibility: CheckAccessibility, locale: str, dark: bool, count: int
) -> None:
    t = texts(locale[:2])
    look: dict[str, Any] = {"locale": locale, "dark": dark}
    teacher = Teacher(new_page(**look), app_url, locale[:2])
    board = teacher.page
    wait_for_params(board, lang=locale[:2])
    check_accessibility(board, "dark", "light")
    teacher.begin()
    phones = [joined(new_page(**PHONE, **look), teacher) for _ in range(count)]
    phones[0].context.clear_cookies()  # the open page gives it again, as when the server has forgotten what it gave
    board.locator(".st-key-class-ask-next button").click()
    wait_until_idle(board)
    chosen = [number % 4 for number in range(count)]
    for phone, option in zip(phones, chosen, strict=True):
        phone.locator("button.choice").nth(option).tap()
    for number in range(0, count, 4):
        phones[number].locator("button.choice").nth(3).tap()
        chosen[number] = 3
    keyboard = phones[2]
    keyboard.reload()
    pressed = keyboard.locator("button.choice[aria-pressed=true] .letter")
    assert pressed.inner_text() == "C"
    for _ in range(3):  # the language, then two choices
        keyboard.keyboard.press("Tab")
    keyboard.keyboard.press("Space")
    keyboard.locator("button.choice[aria-pressed=true] .letter", has_text="B").wait_for()
    chosen[2] = 1
    assert locale == "en-US" or re.search("[가-힣]", keyboard.locator(".poll").inner_text())
    teacher.wait_for_answers(count)
    expected = [Counter(chosen)[option] for option in range(4)]
    assert not any(board.locator(".board .count").all_inner_texts()), "the room sees no answers while it votes"
    teacher.press("show_bars")
    assert until(board, lambda: teacher.counts() == expected)
    assert not phones[0].locator(".count").count(), "nobody sees the answers of the others before they are revealed"
    board.reload()
    teacher.wait_for_answers(count)  # the teacher's browser has its class again as well
    for each in (board, keyboard):
        settled(each)
        check_accessibility(each, "dark", "light")
        assert each.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # Looks at the class came and went: none has taken the focus away.
    assert keyboard.evaluate("document.activeElement.querySelector('.letter').textContent") == "B"
    box = board.locator(".board-controls").bounding_box()
    assert box is not None and box["y"] + box["height"] <= 720, "the controls lie below the projected screen"

    # The teacher's key stands in no address, link or code, and no script can read it.
    cookie = next(each for each in board.context.cookies() if each["name"] == "headlight_browser")
    assert cookie["httpOnly"] and cookie["sameSite"] == "Lax"
    for page in (board, keyboard):
        assert cookie["value"] not in page.url + page.content() and cookie["value"] not in str(
            page.evaluate("[document.cookie, JSON.stringify(localStorage), JSON.stringify(history.state)]")
        )
    refused = keyboard.request.post(f"{app_url}/join/{teacher.code}/control", data={"state": "closed"})
    assert refused.status == 403
    teacher.button("close").focus()
    board.keyboard.press("Enter")
    phones[1].locator("div.choice").first.wait_for()  # nothing can be pressed any more
    teacher.press("reveal")
    phones[1].locator(".right .mark", has_text=t("classroom.right")).wait_for()
    assert [int(text.split()[0]) for text in phones[1].locator(".count").all_inner_texts()] == expected
    teacher.press("end", "end_now")
    phones[1].locator(".problem", has_text=t("classroom.refused_ended")).wait_for()


def test_heads_and_scenes_are_asked_from_their_pages_and_followed(new_page: NewPage, app_url: str) -> None:
    teacher = Teacher(new_page(), app_url)
    teacher.begin()
    phone, student, ko = joined(new_page(**PHONE), teacher), new_page(locale="ko-KR"), texts("ko")
    teacher.lead()
    student.goto(f"{app_url}/?class={teacher.code}")
    sentence = "The dog sleeps because it is tired."
    teacher.visit(f"?text={sentence}&head=encoder.5.3&pin=q5")
    student.wait_for_url(lambda url: query(url) >= {("text", sentence), ("head", "encoder.5.3")})
    assert query(student.url) >= {("lang", "ko"), ("class", teacher.code)}  # his own language stays
    teacher.ask()
    phone.locator(".tokens button").nth(2).tap()
    teacher.wait_for_answers(1)
    teacher.press("close", "reveal")
    table = teacher.page.locator(".board table", has_text=texts("en")("classroom.weights"))
    table.locator("td.right").wait_for()
    weights = [int(text.split("\u202f")[0]) for text in table.locator("td[title]").all_inner_texts()]
    assert abs(sum(weights) - 100) <= len(weights) / 2  # a row of attention sums to 1
    assert table.locator("td.right").inner_text() == f"{max(weights)}\u202f%"

    teacher.visit("lessons?lesson=masks&scene=predict")
    student.wait_for_url(lambda url: query(url) >= {("lesson", "masks"), ("scene", "predict")})
    student.reload()  # he still follows
    teacher.ask()
    phone.get_by_role("heading", name="What stays as it was?").wait_for()
    teacher.page.locator(".st-key-class-scene button").click()
    teacher.page.wait_for_url(re.compile(r"/lessons\?.*lesson=masks"))
    student.get_by_role("button", name=ko("classroom.let_go")).click()
    student.get_by_role("button", name=ko("classroom.follow_again")).wait_for()
    teacher.visit("model")
    wait_until_idle(teacher.page)
    student.wait_for_timeout(2_000)  # it would look each second
    assert "/lessons" in student.url
    student.get_by_role("button", name=ko("classroom.follow_again")).click()
    student.wait_for_url(re.compile("/model"))
    teacher.page.locator(".st-key-class-line button").click()
    teacher.page.locator(".st-key-class-line").wait_for(state="detached")


@pytest.mark.slow
def test_a_class_follows_a_parser_and_taps_its_head(new_page: NewPage, app_url: str) -> None:
    teacher = Teacher(new_page(), app_url)
    teacher.begin()
    phone, student = joined(new_page(**PHONE), teacher), new_page()
    student.goto(f"{app_url}/?class={teacher.code}")
    teacher.lead()
    teacher.visit("?model=en-tree&text=The%20dog%20is%20here.&head=cross.4.1")
    student.wait_for_url(
        lambda url: query(url) >= {("model", "en-tree"), ("text", "The dog is here."), ("head", "cross.4.1")}
    )
    student.get_by_role("gridcell").first.wait_for()
    assert "XX" in student.locator(".explorer").inner_text()
    teacher.ask()
    phone.locator(".map button").nth(2).tap()
    teacher.wait_for_answers(1)
    teacher.press("close", "reveal")
    teacher.page.locator(".board .maps table").nth(1).wait_for()  # what the head looks at, and what the class said


def query(url: str) -> set[tuple[str, str]]:
    """Parameters of an address."""
    return {(name, value[0]) for name, value in parse_qs(urlsplit(url).query).items()}
