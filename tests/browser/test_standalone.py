"""Pages of `headlight page`, opened from the disk: nothing is asked of any server, and the policy holds.

Every page is watched (conftest.py): a request that leaves the machine or an error on the console, such as a violation
of the policy, fails the test.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pypdf

from tests.browser.app_driver import press_tool
from tests.browser.conftest import CheckAccessibility, OpenPage, checkpoint
from tests.browser.rest import rest, until
from transformer_core.cli import main
from transformer_core.translator import Translator
from viz_app.cli import PROGRAM
from viz_app.lessons import load_lesson
from viz_app.lessons.context import LessonContext
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.head_roles import role_tables
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.standalone.paper import render_sheet
from viz_app.text import LANGUAGES, texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SENTENCES = ("The old dog sleeps in the garden.", "A man rides a bicycle down the street.")


def written(folder: Path, *options: str) -> str:
    """The address of a page of the shipped model."""
    out = folder / "it's 100 % <b>#1?.html"
    assert main(["page", f"--checkpoint={checkpoint()}", *options, "--force", f"--out={out}"], PROGRAM) == 0
    return out.as_uri()


def is_drawn(page: Page, selector: str) -> bool:
    """Whether a canvas comes to have more than a few colours."""
    return until(
        page,
        lambda: page.locator(selector).first.evaluate(
            """(canvas) => {
                const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                return new Set(new Uint32Array(data.buffer)).size > 8;
            }"""
        ),
    )


def test_the_explorer_answers_from_its_file(tmp_path: Path, open_page: OpenPage) -> None:
    options = [f"--text={text}" for text in SENTENCES]
    page = open_page(written(tmp_path, *options, "--branches=2", "--language=ko"), width=390, height=844)
    t = texts("ko").table("explorer")
    flows = 'globalThis[Symbol.for("headlight.findings")].get(undefined)?.flow?.source ?? null'
    assert until(page, lambda: page.evaluate(flows) == SENTENCES[0])
    choose = "({ explorer }, changes) => explorer.store.set(changes)"
    page.locator(".explorer").evaluate(choose, {"pin": "q1"})
    assert is_drawn(page, ".flow canvas")
    assert page.locator(".flow-against").is_hidden()  # nothing computes a comparison
    page.locator(".explorer").evaluate(choose, {"form": "map", "pin": None})

    page.locator(".head-role b").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert is_drawn(page, ".tiles canvas") and is_drawn(page, ".map canvas")
    assert page.locator(".off-button").is_hidden() and page.locator(".compare-models").is_hidden()

    page.locator(".card-button").press("Enter")  # the card of a head, and nothing to press that is not there
    page.locator(".atlas-plain").wait_for()
    assert page.locator(".atlas-examples li").count() and page.locator(".atlas-examples button").count() == 0
    page.keyboard.press("Escape")

    page.locator(".compare-button").click()
    press_tool(page, "beam-button")
    rows = page.locator(".beam-hypothesis")
    rows.nth(3).wait_for()
    assert [row.is_enabled() for row in rows.all()[:4]] == [True, True, False, False]
    rows.nth(1).click()
    page.locator(".branch-note").get_by_text(t["beam_back"]).wait_for()
    assert until(page, lambda: page.evaluate(flows) is None)  # only the first branch has one
    page.locator(".page-sentences").get_by_role("button", name=SENTENCES[1], exact=True).click()
    names = page.locator(".compare-name")
    names.nth(1).get_by_text(SENTENCES[1]).wait_for()
    names.nth(0).get_by_text(SENTENCES[0]).wait_for()
    assert until(page, lambda: page.evaluate(flows) == SENTENCES[1])
    rest(page)
    assert is_drawn(page, ".side-difference canvas")


def test_heads_have_roles_and_are_switched_off_and_a_dark_system_turns_the_page_dark(
    tmp_path: Path, open_page: OpenPage, random_checkpoint: Path, check_accessibility: CheckAccessibility
) -> None:
    out = tmp_path / "page.html"
    options = [f"--checkpoint={random_checkpoint}", "--text=The dog.", "--heads-off", f"--out={out}"]
    assert main(["page", *options], PROGRAM) == 0
    page = open_page(out.as_uri())
    t = texts("en").table("explorer")
    for kind, table in role_tables(Translator.load(random_checkpoint)).items():
        page.locator(f".kind-{kind}").click()
        for layer, head in ((0, 0), (1, 1)):
            role = table.likeliest(layer, head)
            standing = "named" if role.named else "leans" if role.leans else "none"
            share, chance = (f"{round(number * 100)}\u202f%" for number in (role.share, role.chance))
            name = t[f"role_is_{role.role}"]
            told = t[f"role_{standing}"].format(role=name, share=share, chance=chance, places=role.places)
            page.get_by_role("gridcell", name=re.compile(rf"head {kind}\.{layer + 1}\.{head + 1},")).click()
            page.locator(".head-role").get_by_text(f"{told} {t['role_examples']}", exact=True).wait_for()
    assert page.locator(".card-button").is_hidden(), "there is no atlas"
    page.locator(".off-button").click()
    page.locator(".off-line").first.wait_for()
    check_accessibility(page, "light", "dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(14, 17, 23)"
    assert page.locator(".explorer").evaluate("(root) => root.explorer.theme.dark")


def test_a_lesson_answers_from_its_file(tmp_path: Path, open_page: OpenPage) -> None:
    page = open_page(written(tmp_path, "--lesson=positions", "--text=The little dog is playing."), still=True)
    lesson = page.locator(".lesson")
    lesson.get_by_role("tab", name=load_lesson("positions", "en").scenes[0].title).wait_for()
    shown = "(root) => [...root.lesson.tools.element.querySelectorAll('button')].filter((one) => !one.hidden).length"
    assert lesson.evaluate("(root) => root.lesson.tools.link.button.hidden") and lesson.evaluate(shown)
    scenes = lesson.evaluate("(root) => root.lesson.lesson.scenes.map(({ name }) => name)")
    for name in scenes:
        lesson.evaluate("(root, name) => root.lesson.go(name)", name)
        assert is_drawn(page, ".lesson canvas")
    lesson.evaluate("(root) => root.lesson.go('swap')")
    fields = page.locator(".lesson .controls input[type=range]")
    for first, second in ((0, 4), (4, 0), (3, 3)):
        for field, value in ((fields.nth(1), first), (fields.nth(2), second)):
            field.fill(str(value))
        page.wait_for_function(
            """([first, second]) => {
                const { answers } = document.querySelector("main").shadowRoot.firstChild.lesson.lesson;
                return answers.first === first && answers.second === second;
            }""",
            arg=[first, second],
        )
    assert page.locator(".next").count() == 0 or scenes[-1] != "swap"

    # A control whose answers are not in the file is not there.
    page = open_page(written(tmp_path, "--lesson=positions", f"--text={'The dog and ' * 9}the cat."), still=True)
    lesson = page.locator(".lesson")
    lesson.evaluate("(root) => root.lesson.go('swap')")
    assert page.locator(".lesson .controls input[type=range]").count() == 1
    lesson.evaluate("(root) => root.lesson.set({ first: 7 })")
    assert lesson.evaluate("(root) => root.lesson.settings().first") != 7
    assert is_drawn(page, ".lesson canvas")

    # What the browser computes needs none.
    page = open_page(written(tmp_path, "--lesson=decoding"), still=True)
    page.locator(".lesson").evaluate("(root) => root.lesson.go('bleu')")
    page.get_by_role("textbox").fill("Ein")
    page.get_by_text("1 of 1 n-grams").or_(page.get_by_text("0 of 1 n-grams")).wait_for()


def test_a_lesson_prints_as_a_handout_and_the_brief_sheet_on_two_pages(
    browser: Browser, tmp_path: Path, random_checkpoint: Path
) -> None:
    """Every scene, drawn light before its answer, where the screen is dark; the answers on the last page."""
    words = load_lesson("positions", "en")
    page = browser.new_page(color_scheme="dark")
    page.goto(written(tmp_path, "--lesson=positions"))
    assert until(page, lambda: page.locator("figure svg").count() == len(words.scenes))
    assert not page.locator(".paper").is_visible()
    inks = page.locator("figure text").evaluate_all("all => all.map((each) => each.getAttribute('fill'))")
    assert "#14171a" in inks and "#ffffff" not in inks
    maps = page.locator("figure[data-scene=waves] image").evaluate_all("all => all.map((each) => each.href.baseVal)")
    assert maps and all(each.startswith("data:image/png") for each in maps)
    printed = [each.extract_text() for each in pypdf.PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages]
    page.close()
    assert all(scene.title in "\n".join(printed) for scene in words.scenes)
    assert texts("en")("handout.answers") in printed[-1] and texts("en")("lesson.play") not in "\n".join(printed)

    # The brief sheet has two pages.
    service = TranslationService(Translator.load(random_checkpoint, device="cpu"), RequestQueue(1))
    for language in LANGUAGES:
        context = LessonContext("The dog sleeps.", LessonState(), language, lambda: service, "test")
        page = browser.new_page()
        page.set_content(render_sheet("brief", context).decode())
        _, second = pypdf.PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True))).pages
        assert texts(language)("questions.ticket") in second.extract_text()
        page.close()
