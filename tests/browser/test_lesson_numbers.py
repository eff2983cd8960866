"""The numbers of each lesson: readout and table say what the core computes; test_lessons.py visits every scene."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from tests.browser.conftest import OpenLesson, checkpoint
from tests.browser.lesson_driver import Lesson
from tests.browser.rest import until
from transformer_core.evaluation.metrics import bleu
from transformer_core.model.positions import sinusoidal_positions
from viz_app.lessons.labels import labels
from viz_app.lessons.results.paper_results import TABLE_3
from viz_app.lessons.results.reduced_table import load_results
from viz_app.lessons.small_models import small_model
from viz_app.lessons.subwords.batching import length_sorted_batches

T = labels("en")
STATION = "lesson.scene.moment(lesson.settings().at).station"


def slide(lesson: Lesson, label: str, key: str) -> None:
    """Move a slider by one step."""
    lesson.page.get_by_role("slider", name=label).focus()
    lesson.page.keyboard.press(key)


def test_architecture_the_sentence_goes_through_figure_1(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("architecture")
    for keys, expected in ((0, {"name": "ids"}), (3, {"name": "self_attention", "layer": 0})):
        lesson.press(*["ArrowRight"] * keys)
        assert lesson.get(STATION).items() >= expected.items()
    # A box is pressed, then the number of a layer: the same station there.
    lesson.hit("decoder cross_attention")
    assert lesson.get(STATION).items() >= {"name": "cross_attention", "side": "decoder", "layer": 0}.items()
    assert lesson.get(f"lesson.scene.shape({STATION})") in lesson.said()
    lesson.page.keyboard.press("End")  # no key of the lesson: nothing changes
    assert lesson.get(STATION)["name"] == "cross_attention"
    lesson.show_table()
    assert lesson.rows.count() == lesson.get("lesson.scene.route.length")

    lesson.go("training")
    lesson.press("ArrowRight", "ArrowRight")
    assert lesson.settings()["step"] == 3
    lesson.choose(T("lesson_architecture.cache_without"))
    assert "6" in lesson.said(), "1 + 2 + 3 rows without a cache"
    lesson.choose(T("lesson_architecture.cache_with"))
    assert lesson.get("lesson.scene.lit(lesson.settings())") == "last"
    lesson.go("ffn")
    lesson.press("ArrowRight")
    slots, halfway = lesson.get("[lesson.scene.slots(4, lesson.settings().at), lesson.scene.slots(4, 1.5)]")
    assert slots == [1, 0, 2, 3], "the first token is at the second place, the second at the first"
    assert sorted(halfway) != slots and sum(halfway) == 6
    lesson.go("residual")
    stats = lesson.get("lesson.scene.rows(lesson.scene.moment(lesson.settings())).map((row) => row.stats)")
    width = json.loads((checkpoint() / "config.json").read_text(encoding="utf-8"))["model"]["d_model"]
    for mean, deviation, length in stats:
        assert abs(length - (width * (mean**2 + deviation**2)) ** 0.5) < 1e-3, "one vector, three numbers"
    lesson.go("after")
    tokens = lesson.get("lesson.lesson.values.tokens")
    shown = lesson.get("['encoder', 'decoder'].map((side) => lesson.scene.seen(side, { step: 2 }).count)")
    assert shown == [len(tokens["encoder"]), 2], "the encoder sees all, the second row of the decoder two"
    lesson.go("mistake")
    assert until(lesson.page, lambda: lesson.get("lesson.scene.mistakes.length") > 1), "searched when it is opened"
    lesson.press("ArrowLeft")
    said = lesson.get(f"lesson.scene.mistakes[{lesson.settings()['step'] - 1}].text")
    assert said in lesson.said() and lesson.rows.count() == lesson.get("lesson.scene.mistakes.length")
    lesson.go("predict")
    assert lesson.rows.count() == 0, "hidden"
    lesson.click(T("lesson.reveal"))
    assert lesson.rows.count() == 4
    assert T("lesson_architecture.part_feed_forward") in lesson.said()


def test_dot_product_numbers_are_edited(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("dot_product", "steps")
    fields = lesson.page.locator(".number-field")
    assert fields.count() == 36
    lesson.show_table()
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
    lesson.press("ArrowRight")
    assert lesson.settings()["step"] == 1
    lesson.go("predict")
    assert fields.count() == 0 and lesson.rows.count() == 1
    lesson.click(T("lesson.reveal"))
    assert lesson.rows.count() == 2

    # Queries come from the decoder and keys from the encoder.
    lesson.go("projections")
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

    # A real head looks, and the line says why it is shown.
    lesson.go("real")
    looks = lesson.said()
    assert "chosen for this sentence" in looks and "rests" not in looks
    assert 0 <= lesson.get("lesson.scene.restingShare(lesson.lesson.values.head)") <= 0.5
    for head in range(8):
        lesson.get(f"lesson.set({{ head: {head} }})")
        rests = lesson.get(f"lesson.scene.restingShare({head})") > 0.5
        assert ("rests" in lesson.said()) == rests


def test_masks_tell_the_models_numbers(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("masks", "predict")
    lesson.click(T("lesson.reveal"))
    assert T("lesson_masks.guess_say") in lesson.said()
    lesson.show_table()
    assert float(lesson.rows.locator("td.number").first.inner_text()) > 0
    lesson.go("rows")
    lesson.wait("lesson.numbers.querySelectorAll('tbody tr').length === lesson.lesson.values.inputs.length")
    cells = lesson.rows.first.locator("td").all_inner_texts()
    assert cells[2] == "1" and set(cells[3:]) == {"−∞"}, "the first row sees itself and nothing else"
    lesson.press("ArrowRight")
    assert abs(lesson.settings()["at"] - 1 / 3) < 1e-6
    assert "mask" in (lesson.page.locator("math .lit").first.get_attribute("class") or "")
    lesson.press("ArrowRight", "ArrowRight")
    assert lesson.settings()["at"] == 1


def test_positions_are_those_of_the_core(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("positions", "clocks", settings="at:4")
    table = sinusoidal_positions(40, lesson.get("lesson.lesson.values.d_model")).double().numpy()
    assert f"{np.dot(table[0], table[2]):.2f}" in lesson.said()
    lesson.go("predict")
    assert lesson.said() in (T("lesson_positions.predict_say"), T("lesson_positions.computing"))
    # What the question hides is not in the table until it is revealed.
    lesson.wait("lesson.lesson.values.backwards")
    lesson.click(T("lesson.reveal"))
    translated = lesson.get("lesson.lesson.values.backwards")
    assert translated["off"][0] == translated["off"][1] != translated["with"][1]
    assert translated["with"][1] in lesson.said()
    # Another word: Python answers, and the picture is the fresh one.
    lesson.go("swap")
    slide(lesson, T("lesson_positions.first"), "ArrowLeft")
    lesson.wait(f"lesson.lesson.answers.first === {lesson.settings()['first']}")
    assert lesson.get("lesson.scene.fresh(lesson.settings())")


def test_the_waves_go_through_their_chapters(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("positions")
    assert lesson.settings()["at"] == 4
    table = sinusoidal_positions(40, lesson.get("lesson.lesson.values.d_model")).double().numpy()

    def words(name: str, **values: object) -> str:
        return T(f"lesson_positions.{name}", **values)

    lesson.choose(words("chapter_near"))
    assert f"{np.dot(table[12], table[17]):.1f}" in lesson.said()
    lesson.choose(words("learned"))
    model = small_model("learned-positions").model
    assert model.source_positions is not None
    learned = model.source_positions.weight.detach().double().numpy()
    fixed, trained = (
        float(rows[19] @ rows[20] / np.linalg.norm(rows[19]) / np.linalg.norm(rows[20])) for rows in (table, learned)
    )
    assert lesson.said() == words("learned_say", p=19, next=20, fixed=f"{fixed:.2f}", learned=f"{trained:.2f}")
    # A slider that shows another setting: it leads to its chapter, from which the picture can be dragged.
    lesson.choose(words("chapter_waves"))
    assert lesson.settings()["at"] == 4
    slide(lesson, words("span"), "End")
    assert lesson.page.get_by_role("radio", name=words("chapter_zoom")).is_checked() and "65,536" in lesson.said()
    box = lesson.canvas.bounding_box()
    assert box is not None
    lesson.canvas.click(position={"x": box["width"] / 2, "y": 150})
    assert 20_000 < lesson.settings()["cut"] < 45_000
    # In the tables one number is the sum of those before it: of a column of the token, of the parts of a score.
    lesson.choose(words("chapter_sum"))
    lesson.show_table()
    for chapter, after in (("chapter_sum", 0), ("chapter_head", 1)):  # the last of a head is the weight
        lesson.choose(words(chapter))
        cells = lesson.rows.nth(3).locator("td").all_inner_texts()
        *terms, total = [float(text.replace("\u2212", "-")) for text in cells[1 : len(cells) - after]]
        assert len(terms) > 1 and total == pytest.approx(sum(terms), abs=0.02)


def test_results_ours_beside_the_papers(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("results", "variations", settings="row:C")
    assert "best is dff = 4096 with 26.2, worst N = 2 with 23.7" in lesson.said()
    lesson.choose(T("lesson_results.all_rows"))
    lesson.choose(T("lesson_results.measure_perplexity"))
    assert lesson.settings() == {"row": "all", "measure": "perplexity", "whose": "paper"}
    assert "best is big with 4.33, worst N = 2 with 6.11" in lesson.said()
    lesson.show_table()
    assert lesson.rows.count() == len(TABLE_3)
    results = load_results()
    assert results is not None
    for index, line in enumerate(TABLE_3):
        spread = results.spread(line.preset, "perplexity")
        assert spread is not None
        row = lesson.rows.nth(index).inner_text()
        assert f"{spread.mean:.2f}" in row and f"{line.bleu:.1f}" in row
    lesson.choose(T("lesson_results.measure_parameters"))
    lesson.painted(0.004)
    assert lesson.said() == T("lesson_results.parameters_say")


def test_what_is_typed_slid_chosen_or_asked_for_is_answered(open_lesson_file: OpenLesson) -> None:
    lesson = open_lesson_file("decoding", "bleu")
    reference = lesson.get("lesson.lesson.values.reference")
    lesson.page.get_by_role("textbox", name=T("lesson_decoding.your_translation")).fill(f"So {reference}")
    lesson.wait("lesson.settings().text.startsWith('So ')")
    lesson.get("lesson.set({ step: 5 })")
    assert f"BLEU {bleu([f'So {reference}'], [[reference]]).value:.1f}." in lesson.said()

    lesson = open_lesson_file("subwords")
    lesson.press("ArrowRight")
    assert lesson.settings()["done"] == 1
    lesson.go("predict")
    wrong = lesson.get("lesson.lesson.values.word[1]")
    assert wrong not in lesson.said()
    lesson.click(T("lesson.reveal"))
    assert wrong in lesson.said()
    lesson.press("PageUp")
    slide(lesson, T("lesson_subwords.budget"), "ArrowRight")
    lesson.wait("lesson.lesson.answers.budget === 288")
    assert lesson.get("lesson.lesson.values.padding[1][0]") == length_sorted_batches(288).padded

    lesson = open_lesson_file("regularisation", "dropout")
    lesson.press("ArrowRight")
    assert lesson.settings()["place"] == 2
    lesson.go("predict")
    assert "nats" not in lesson.said()
    lesson.press("Enter")
    size = lesson.get("lesson.lesson.values.vocabulary")
    least = -0.8 * math.log(0.8) - 0.2 * math.log(0.2 / (size - 1))
    assert "0.8" in lesson.said() and f"{least:.2f} nats" in lesson.said()

    lesson = open_lesson_file("why", "path")
    lesson.choose(T("lesson_why.layer_recurrent"))
    slider = lesson.page.get_by_role("slider", name="r", exact=True)
    assert slider.count() == 0, "it would do nothing"
    lesson.choose(T("lesson_why.layer_restricted"))
    slider.wait_for()
    lesson.go("predict")
    lesson.press("Enter", "ArrowRight")
    assert f"{576**2 * 512 / 1e6:.0f}M" in lesson.said() and f"{576 * 512**2 / 1e6:.0f}M" in lesson.said()
    before = lesson.said()
    lesson.canvas.click(position={"x": 500, "y": 200})
    assert lesson.said() != before
