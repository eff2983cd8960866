"""A class: phones answer, the teacher's board counts, screens follow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.app_driver import LOCALES
from tests.browser.conftest import CheckAccessibility, _watch
from tests.browser.rest import PAGE_MILLISECONDS, rest, settled, until, wait_until_idle
from viz_app.text import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

T = texts("en")
PHONE = {"width": 390, "height": 844}

Join = Callable[..., "Page"]


class Teacher:
    """A teacher with a class.

    Args:
        page: In the teacher's browser.
        url: Of the app.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        page.goto(f"{url}/classroom")
        page.get_by_role("button", name=T("classroom.open")).click()
        self.code = page.locator(".board-code").inner_text()

    def press(self, name: str) -> None:
        """A button of the board or of the page, by its label."""
        self.page.get_by_role("button", name=T(f"classroom.{name}"), exact=True).click()

    def ask_next(self) -> None:
        """Ask the next question of the lessons."""
        self.page.locator(".st-key-class-ask-next button").click()
        wait_until_idle(self.page)

    def counts(self) -> list[int]:
        """Answers by option, as the board shows them."""
        return [int(text.split()[0]) for text in self.page.locator(".board .count").all_inner_texts()]

    def wait_for_answers(self, count: int) -> None:
        """Until the board has counted so many."""
        self.page.locator(".board-said", has_text=re.compile(rf"^Answers: {count} ")).wait_for()

    def lead(self) -> None:
        """Let students follow this screen."""
        self.page.locator(".st-key-class_lead label").first.click()
        self.page.locator(".st-key-class-line").wait_for()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[Join]:
    """A page in a browser of its own."""
    contexts: list[Any] = []

    def start(*, dark: bool = False, locale: str = "en-US", **window: Any) -> Page:
        contexts.append(
            browser.new_context(
                locale=locale, color_scheme="dark" if dark else "light", viewport=window.pop("viewport", None), **window
            )
        )
        contexts[-1].set_default_timeout(PAGE_MILLISECONDS)
        _watch.attach(contexts[-1])
        page: Page = contexts[-1].new_page()
        return page

    yield start
    for context in contexts:
        context.close()
    _watch.check()


@pytest.fixture
def teacher(new_page: Join, app_url: str) -> Iterator[Teacher]:
    """With a class that ends with the test."""
    result = Teacher(new_page(viewport={"width": 1280, "height": 720}), app_url)
    yield result
    result.page.goto(f"{app_url}/classroom")
    result.page.locator(".board-code").wait_for()
    rest(result.page)  # what grows above it would push an open popover off the screen
    result.press("end")
    result.press("end_now")
    result.page.get_by_role("button", name=T("classroom.open")).wait_for()


@pytest.fixture
def join(new_page: Join, teacher: Teacher) -> Join:
    """A student's phone in the class."""

    def start(**window: Any) -> Page:
        page = new_page(viewport=PHONE, is_mobile=True, has_touch=True, **window)
        page.goto(f"{teacher.url}/join/{teacher.code}")
        page.locator("main .said:not(:empty)").wait_for()
        return page

    return start


@pytest.mark.parametrize("count", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_phones_answer_and_change_their_minds_but_never_learn_the_key(teacher: Teacher, join: Join, count: int) -> None:
    phones = [join() for _ in range(count)]
    phones[0].context.clear_cookies()  # the open page gives it again, as when the server has forgotten what it gave
    teacher.ask_next()
    chosen = []
    for number, phone in enumerate(phones):
        phone.locator("button.choice").nth(number % 4).tap()
        chosen.append(number % 4)
    for number in range(0, count, 4):
        phones[number].locator("button.choice").nth(3).tap()
        chosen[number] = 3
    teacher.wait_for_answers(count)
    expected = [Counter(chosen)[option] for option in range(4)]
    assert until(teacher.page, lambda: teacher.counts() == expected)
    assert not phones[0].locator(".count").count(), "nobody sees the answers of the others before they are revealed"
    phone = phones[2]
    phone.reload()
    assert phone.locator("button.choice[aria-pressed=true] .letter").inner_text() == "C"
    teacher.page.reload()
    teacher.wait_for_answers(count)  # the teacher's browser has its class again as well

    # The teacher's key stands in no address, link or code, and no script can read it.
    cookie = next(each for each in teacher.page.context.cookies() if each["name"] == "headlight_browser")
    assert cookie["httpOnly"] and cookie["sameSite"] == "Lax"
    for page in (teacher.page, phone):
        assert cookie["value"] not in page.url + page.content() and cookie["value"] not in str(
            page.evaluate("[document.cookie, JSON.stringify(localStorage), JSON.stringify(history.state)]")
        )
    refused = phone.request.post(f"{teacher.url}/join/{teacher.code}/control", data={"state": "closed"})
    assert refused.status == 403
    teacher.press("close")
    phones[1].locator("div.choice").first.wait_for()  # nothing can be pressed any more
    teacher.press("reveal")
    phones[1].locator(".right .mark", has_text=T("classroom.right")).wait_for()
    assert [int(text.split()[0]) for text in phones[1].locator(".count").all_inner_texts()] == expected


def test_heads_and_scenes_are_asked_from_their_pages_and_followed(teacher: Teacher, join: Join, new_page: Join) -> None:
    phone = join()
    sentence = "text=The%20dog%20sleeps%20because%20it%20is%20tired."
    teacher.page.goto(f"{teacher.url}/?{sentence}&head=encoder.5.3&pin=q5")
    teacher.page.locator(".st-key-ask-class button").click()
    phone.locator(".tokens button").nth(2).tap()
    teacher.wait_for_answers(1)
    teacher.press("close")
    teacher.press("reveal")
    table = teacher.page.locator(".board table", has_text=T("classroom.weights"))
    table.locator("td.right").wait_for()
    weights = [int(text.split("\u202f")[0]) for text in table.locator("td[title]").all_inner_texts()]
    assert abs(sum(weights) - 100) <= len(weights) / 2  # a row of attention sums to 1
    assert table.locator("td.right").inner_text() == f"{max(weights)}\u202f%"
    teacher.page.goto(f"{teacher.url}/?text=The%20dog%20sleeps.&head=cross.6.4")
    teacher.page.locator(".st-key-ask-class button").click()
    phone.locator(".map button").nth(3).tap()
    teacher.wait_for_answers(1)
    teacher.page.goto(f"{teacher.url}/lessons?lesson=masks&scene=predict")
    teacher.page.locator(".st-key-ask-class button").click()
    phone.get_by_role("heading", name="What stays as it was?").wait_for()
    teacher.page.locator(".st-key-class-scene button").click()
    teacher.page.wait_for_url(re.compile(r"/lessons\?.*lesson=masks"))

    student = new_page(viewport={"width": 1280, "height": 720}, locale="ko-KR")
    student.goto(f"{teacher.url}/?class={teacher.code}")
    teacher.page.goto(f"{teacher.url}/classroom")
    teacher.lead()
    teacher.page.goto(f"{teacher.url}/?text=A%20dog%20sleeps.&head=decoder.2.7")
    student.wait_for_url(lambda url: query(url) >= {("text", "A dog sleeps."), ("head", "decoder.2.7")})
    assert query(student.url) >= {("lang", "ko"), ("class", teacher.code)}  # his own language stays
    teacher.page.goto(f"{teacher.url}/lessons?lesson=masks&scene=rows&with=at:1")
    student.wait_for_url(lambda url: query(url) >= {("lesson", "masks"), ("scene", "rows")})
    student.reload()  # he still follows
    ko = texts("ko")
    student.get_by_role("button", name=ko("classroom.let_go")).click()
    student.get_by_role("button", name=ko("classroom.follow_again")).wait_for()
    teacher.page.goto(f"{teacher.url}/model")
    wait_until_idle(teacher.page)
    student.wait_for_timeout(3_000)
    assert "/lessons" in student.url
    student.get_by_role("button", name=ko("classroom.follow_again")).click()
    student.wait_for_url(re.compile("/model"))
    teacher.page.locator(".st-key-class-line button").click()
    teacher.page.locator(".st-key-class-line").wait_for(state="detached")


@pytest.mark.slow
def test_a_class_follows_a_parser_and_taps_its_head(teacher: Teacher, new_page: Join, join: Join) -> None:
    student, phone = new_page(viewport={"width": 1280, "height": 720}), join()
    student.goto(f"{teacher.url}/?class={teacher.code}")
    teacher.lead()
    teacher.page.goto(f"{teacher.url}/?model=en-tree&text=The%20dog%20is%20here.&head=cross.4.1")
    student.wait_for_url(
        lambda url: query(url) >= {("model", "en-tree"), ("text", "The dog is here."), ("head", "cross.4.1")}
    )
    student.get_by_role("gridcell").first.wait_for()
    assert "XX" in student.locator(".explorer").inner_text()
    teacher.page.locator(".st-key-ask-class button").click()
    phone.locator(".map button").nth(2).tap()
    teacher.wait_for_answers(1)
    teacher.press("close")
    teacher.press("reveal")
    teacher.page.locator(".board .maps table").nth(1).wait_for()  # what the head looks at, and what the class said


def query(url: str) -> set[tuple[str, str]]:
    """Parameters of an address."""
    return {(name, value[0]) for name, value in parse_qs(urlsplit(url).query).items()}


@pytest.mark.parametrize(("locale", "dark"), LOCALES)
def test_board_and_phone_can_be_read_and_worked_by_keyboard(
    new_page: Join, app_url: str, check_accessibility: CheckAccessibility, dark: bool, locale: str
) -> None:
    t = texts(locale[:2])
    page = new_page(viewport={"width": 1280, "height": 720}, dark=dark, locale=locale)
    page.goto(f"{app_url}/classroom")
    page.get_by_role("button", name=t("classroom.open")).wait_for()
    check_accessibility(page, "dark", "light")
    page.get_by_role("button", name=t("classroom.open")).click()
    code = page.locator(".board-code").inner_text()
    phone = new_page(viewport=PHONE, dark=dark, locale=locale)
    phone.goto(f"{app_url}/join/{code}")
    page.locator(".st-key-class-ask-next button").click()
    phone.locator("button.choice").first.wait_for()
    for _ in range(3):  # the language, then two choices
        phone.keyboard.press("Tab")
    phone.keyboard.press("Space")
    assert phone.locator("button.choice[aria-pressed=true] .letter").inner_text() == "B"
    assert locale == "en-US" or re.search("[가-힣]", phone.locator(".poll").inner_text())
    page.locator(".board .bar").nth(1).wait_for()
    for each in (page, phone):
        settled(each)
        check_accessibility(each, "dark", "light")
        assert each.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # Looks at the class came and went: none has taken the focus away.
    assert phone.evaluate("document.activeElement.querySelector('.letter').textContent") == "B"
    box = page.locator(".board-controls").bounding_box()
    assert box is not None and box["y"] + box["height"] <= 720, "the controls lie below the projected screen"
    page.get_by_role("button", name=t("classroom.close")).focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name=t("classroom.reveal")).wait_for()
    page.get_by_role("button", name=t("classroom.end")).click()
    page.get_by_role("button", name=t("classroom.end_now")).click()
    phone.locator(".problem", has_text=t("classroom.refused_ended")).wait_for()
