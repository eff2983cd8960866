"""The lesson on the dot product in a browser: scenes paint, numbers can be edited where they stand."""

from __future__ import annotations

from tests.browser.conftest import CheckAccessibility, OpenLesson
from viz_app.lessons.labels import labels

T = labels("en")


def test_numbers_are_edited_and_every_scene_paints(
    open_lesson: OpenLesson, check_accessibility: CheckAccessibility
) -> None:
    lesson = open_lesson("dot_product", "steps")
    fields = lesson.page.locator(".number-field")
    assert fields.count() == 36
    lesson.click(T("lesson.table"))
    products = lesson.rows.nth(5).locator("td")  # the second query and the third key
    assert products.nth(2).inner_text() == "4", "by hand: 0*0 + 2*1 + 0*0 + 2*1"
    field = fields.nth(4 + 1)
    field.fill("3,5")
    assert products.nth(2).inner_text() == "5.5000"
    field.press("ArrowDown")
    assert products.nth(2).inner_text() == "5.4000"
    field.press("Space")
    assert not lesson.get("lesson.stage.playing"), "who types does not start the film"
    field.fill("1e9")
    field.press("Enter")
    assert field.input_value() == "9.9"
    lesson.page.wait_for_function("(new URL(location.href).searchParams.get('with') ?? '').includes('q:')")
    lesson.press("ArrowRight")
    assert lesson.settings()["step"] == 1
    check_accessibility(lesson.page)
    for scene in ("projections", "scale", "real", "predict"):
        lesson.go(scene)
        lesson.painted(0.005)
        assert fields.count() == 0
    assert lesson.rows.count() == 1
    lesson.click(T("lesson.reveal"))
    assert lesson.rows.count() == 2


def test_queries_come_from_the_decoder_and_keys_from_the_encoder(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("dot_product", "projections")
    lesson.click(T("lesson.table"))
    tokens = [lesson.rows.nth(row).locator("td").nth(1) for row in range(3)]
    assert len({token.inner_text() for token in tokens}) == 1, "self-attention reads one vector three times"
    lesson.choose(T("lesson_dot_product.projected_cross"))
    query, key, value = (token.inner_text() for token in tokens)
    inputs, source = (lesson.get(f"lesson.lesson.values.{name}") for name in ("inputs", "tokens"))
    row = lesson.settings()["row"]
    assert query == inputs[row].lstrip("\u2581") != key
    assert key == value == source[row].lstrip("\u2581")
    lesson.press("ArrowLeft")
    assert lesson.settings()["made"] == 2, "the keyboard builds Q, K and V one by one"


def test_a_real_head_looks_and_the_line_says_why_it_is_shown(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("dot_product", "real")
    looks = lesson.said()
    assert "chosen for your sentence" in looks and "rests" not in looks
    share = lesson.get("lesson.scene.restingShare(lesson.lesson.values.head)")
    assert 0 <= share <= 0.5
    for head in range(8):
        lesson.get(f"lesson.set({{ head: {head} }})")
        rests = lesson.get(f"lesson.scene.restingShare({head})") > 0.5
        assert ("rests" in lesson.said()) == rests
