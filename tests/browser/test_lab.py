"""The Lab in the browser: heads are pressed, switched off and walked through by keyboard; links lead there and back."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson, OpenPage
from tests.browser.lesson_driver import Lesson
from tests.browser.rest import until, wait_until_idle
from viz_app.lessons.labels import labels
from viz_app.text import texts

T = labels("en")


def press_tile(lesson: Lesson, kind: str, layer: int, head: int) -> None:
    tile = lesson.get(f"lesson.scene.places(lesson.stage.pen(null)).grid.tile('{kind}', {layer}, {head})")
    middle = tile["size"] / 2
    lesson.canvas.click(position={"x": tile["x"] + middle, "y": tile["y"] + middle})


def test_a_head_is_pressed_and_switched_off(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    lesson = open_lesson("lab", "off")
    lesson.wait("lesson.scene.own")
    lesson.painted(0.01)
    press_tile(lesson, "decoder", 2, 5)
    assert lesson.settings()["chosen"] == "decoder.2.5"
    assert T("lesson_lab.head_title", kind=T("lesson_lab.decoder"), head="3.6") in lesson.said()
    lesson.click(T("lesson_lab.toggle"))
    lesson.wait("lesson.scene.own?.without && lesson.lesson.answers.off === lesson.settings().off")
    off = lesson.get("lesson.scene.off(lesson.settings()).indexOf(true)")
    assert off == lesson.get("lesson.scene.effects.all.decoder[2][5].number")
    check_accessibility(lesson.page)
    lesson.click(T("lesson_lab.all_on"))
    lesson.wait("lesson.scene.own && !lesson.scene.own.without")


def test_the_chosen_head_stays_from_bench_to_bench(open_lesson: OpenLesson) -> None:
    """Where a bench shows a head; one without a head lies between, and what was chosen last counts."""
    lesson = open_lesson("lab", "off", settings="chosen:decoder.2.5")
    lesson.wait("lesson.scene.own")
    lesson.get("lesson.go('redirect')")
    lesson.wait("lesson.scene.own?.head === 'decoder.2.5'")
    lesson.get("lesson.set({ chosen: 'encoder.1.3' })")
    lesson.get("lesson.go('why')")
    lesson.wait("lesson.scene.own?.head === 'encoder.1.3'")
    lesson.get("lesson.go('parts')")
    assert lesson.settings()["chosen"] == ""
    lesson.get("lesson.go('off')")
    assert lesson.settings()["chosen"] == "decoder.2.5"
    lesson.get("lesson.go('why')")
    lesson.wait("lesson.scene.own?.head === 'decoder.2.5'")


def test_a_token_and_the_arrow_keys(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("lab", "off")
    lesson.wait("lesson.scene.own")
    order = lesson.get("lesson.scene.effects.ranked(-1).order")
    lesson.press("ArrowRight", "ArrowRight")
    shown = "lesson.scene.shown(lesson.settings(), lesson.scene.effects.ranked(-1).order).number"
    assert lesson.get(shown) == order[2]
    lesson.press("ArrowLeft")
    assert lesson.get(shown) == order[1]
    effects = lesson.get("[...lesson.lesson.arrays.effects.part(0).data]")
    lesson.get("lesson.set({ token: 1, chosen: 'encoder.0.0' })")
    assert f"{abs(effects[1]):.2f}" in lesson.said()


def test_random_vectors_stand_beside_the_effects(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("lab", "off", settings="band:on", lang="ko", width=390, height=844, dark=True)
    lesson.wait("lesson.lesson.arrays.low")
    lesson.painted(0.01)
    known = labels("ko")
    spoken = {known(f"lesson_lab.say_{name}", low="", high="").split("\u201d")[0][:12] for name in ("within", "beyond")}
    assert any(start in lesson.said() for start in spoken)


def test_the_order_of_the_heads_is_checked(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("lab", "off")
    lesson.wait("lesson.scene.own")
    lesson.page.get_by_role("checkbox", name=T("lesson_lab.check_heads_label")).check(force=True)
    lesson.wait("lesson.scene.own?.check")
    falls = lesson.get("lesson.scene.own.check.first")
    assert f"{abs(falls[-1]):.2f}" in lesson.said()
    # The bars are where they are pressed.
    pressed = lesson.get("""(() => {
        const { scene, stage } = lesson, pen = stage.pen(stage.canvas.getContext("2d")), { side } = scene.places(pen);
        const shown = scene.shown(lesson.settings(), scene.effects.ranked(-1).order);
        const { across, bottom } = scene.bars(shown, { ...side, height: scene.barsHeight(pen, side) });
        return { x: across.place(1.5), y: bottom + 20 };
    })()""")
    lesson.canvas.click(position=pressed)
    assert lesson.settings()["token"] == 1


@pytest.mark.parametrize("language", ["en", "ko"])
def test_from_a_head_in_translate_to_the_lab_and_back(language: str, open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/?lang={language}&kind=cross&layer=4&head=3", still=True)
    page.locator(".explorer .tile").first.wait_for()
    page.locator(".st-key-open-in-lab button").click()
    lesson = Lesson(page)
    lesson.wait("lesson.scene.own")
    assert lesson.settings()["chosen"] == "cross.3.2"
    lesson.press("ArrowRight")
    other = lesson.get("lesson.settings().chosen")
    assert until(page, lambda: other in parse_qs(urlsplit(page.url).query).get("with", [""])[0])
    page.locator(".st-key-open-head button").click()
    page.locator(".explorer").wait_for()
    kind, layer, head = other.split(".")
    wanted = {"kind": [kind], "layer": [str(int(layer) + 1)], "head": [str(int(head) + 1)]}
    assert until(page, lambda: wanted.items() <= parse_qs(urlsplit(page.url).query).items())


def test_the_methods_of_tracing(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    lesson = open_lesson("lab", "trace")
    lesson.wait("lesson.scene.own")
    lesson.painted(0.02)
    places = lesson.get("lesson.scene.places(lesson.stage.pen(null))")
    lesson.canvas.click(position={"x": places["side"]["x"] + 20, "y": places["side"]["y"] + 20})
    assert lesson.settings()["method"] == "attention" and T("lesson_lab.method_attention") in lesson.said()
    lesson.press("ArrowRight", "ArrowRight")
    tokens = lesson.get("lesson.scene.own.tokens")
    assert f"“{tokens[2].strip(chr(0x2581))}”" in lesson.said()
    lesson.page.get_by_role("checkbox", name=T("lesson_lab.check")).check(force=True)
    lesson.wait("lesson.scene.own?.check && lesson.lesson.answers.method === 'attention'")
    check_accessibility(lesson.page)


def test_one_token_rather_than_another(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("lab", "trace")
    lesson.wait("lesson.scene.own")
    lesson.click(T("lesson_lab.contrast"))
    lesson.wait("lesson.scene.own?.contrast")
    (_, other), *_ = lesson.get("lesson.scene.own.others[0]")
    first = lesson.get("lesson.scene.own.tokens[0]")
    assert lesson.get("lesson.scene.own.contrast.tokens") == [first, other]
    assert f"\u201c{first.strip(chr(0x2581))}\u201d rather than" in lesson.said()
    assert lesson.settings()["method"] == "leave-one-out"
    lesson.press("ArrowRight")
    lesson.wait("lesson.scene.own && !lesson.scene.own.contrast")


def test_the_layers_of_the_decoder_and_the_encoder(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("lab", "depth", lang="ko", width=390, height=844, dark=True)
    lesson.wait("lesson.scene.own")
    lesson.painted(0.01)
    layers = lesson.get("lesson.scene.layers")
    assert lesson.settings()["layer"] == layers - 1
    lesson.press("ArrowLeft")
    assert lesson.settings()["layer"] == layers - 2
    top = lesson.get(f"lesson.scene.own.top[{layers - 2}].map(([first]) => first)")
    assert top[0].strip("\u2581") in lesson.said()
    check_accessibility(lesson.page)
    lesson.go("early")
    lesson.wait("lesson.scene.own?.rows.length")
    lesson.painted(0.01)


@pytest.mark.parametrize("scene", ["off", "parts", "cumulative", "redirect", "trace", "depth", "early", "swap", "why"])
def test_every_bench_is_taken_along_as_files_and_made_again(open_lesson: OpenLesson, scene: str) -> None:
    lesson = open_lesson("lab", scene)
    lesson.wait("lesson.scene.own")
    page = lesson.page
    wait_until_idle(page)
    page.get_by_text(texts("en")("lessons.recipe")).click()
    command = page.locator("[data-testid=stExpander] code.language-bash")
    assert command.inner_text().startswith("python -m ")
    assert "Translator.load" in page.locator("[data-testid=stExpander] code.language-python").inner_text()
    page.locator(".st-key-takeaways").get_by_text(texts("en")("translate.download"), exact=True).click()
    page.locator(".st-key-edit-in-figures button").wait_for()
    for name in ("PDF", "SVG", "PNG", "TikZ", "HTML", "CSV", "NPZ"):  # buttons come one after the other
        page.locator("[data-testid=stPopoverBody]").get_by_role("button", name=name, exact=True).wait_for()


def test_up_and_down_in_the_picture_choose_tokens_and_methods(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("lab", "off")
    lesson.wait("lesson.scene.own")
    lesson.press("ArrowDown", "ArrowDown")
    assert lesson.settings()["token"] == 1
    lesson.press("ArrowUp", "ArrowUp", "ArrowUp")
    assert lesson.settings()["token"] == lesson.get("lesson.scene.own.tokens.length") - 1, "round and round"
    lesson.page.get_by_role("tab", selected=True).focus()
    lesson.page.keyboard.press("ArrowDown")
    assert lesson.settings()["token"] == lesson.get("lesson.scene.own.tokens.length") - 1, "elsewhere the page scrolls"
    lesson.go("trace")
    lesson.wait("lesson.scene.own")
    methods = lesson.get("lesson.scene.own.methods")
    lesson.press("ArrowDown")
    assert lesson.settings()["method"] == methods[methods.index("alti") + 1]
    lesson.go("depth")
    lesson.wait("lesson.scene.own")
    lesson.press("ArrowDown")
    assert lesson.settings()["token"] == 1
