"""What only one bench of the Lab can do: its parts are pressed and dragged, and its readout says what came of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import OpenLesson
from tests.browser.lesson_driver import ANSWERED, Lesson
from viz_app.lessons.labels import labels
from viz_app.lessons.stage import settings_from_param

T = labels("en")
LARGE = {"width": 1280, "height": 900}  # so that nothing has to be scrolled to be pressed


@pytest.fixture
def bench(open_lesson_file: OpenLesson) -> Any:
    """Open a bench, and wait until it has answered."""

    def start(name: str, settings: str = "", **options: Any) -> Lesson:
        lesson = open_lesson_file("lab", name, settings=settings, **LARGE, **options)
        lesson.wait(ANSWERED)
        return lesson

    return start


def check(lesson: Lesson, label: str) -> None:
    """Turn a switch on, and wait for the answer."""
    lesson.page.get_by_role("checkbox", name=T(f"lesson_lab.{label}")).check(force=True)
    lesson.wait(ANSWERED)


def head_title(kind: str, name: str) -> str:
    return T("lesson_lab.head_title", head=f"{kind}.{name}")


def test_heads_are_walked_through_pressed_and_switched_off(bench: Any) -> None:
    lesson = bench("off")
    rows = lesson.get("lesson.scene.table(lesson.settings()).rows")
    order = [row[0] for row in sorted(rows, key=lambda row: -abs(row[1]))]
    lesson.press("ArrowRight", "ArrowRight")
    assert lesson.said().startswith(order[2])
    lesson.press("ArrowLeft")
    assert lesson.said().startswith(order[1])
    tokens = lesson.get("lesson.scene.own.tokens.length")
    lesson.press("ArrowDown", "ArrowDown")
    assert lesson.settings()["token"] == 1
    effect = lesson.get("[...lesson.lesson.arrays.effects.part(0).data]")[1]
    lesson.get("lesson.set({ chosen: 'encoder.1.1' })")
    assert f"{abs(effect):.2f}" in lesson.said()
    lesson.press("ArrowUp", "ArrowUp", "ArrowUp")
    assert lesson.settings()["token"] == tokens - 1, "round and round"
    lesson.page.get_by_role("tab", selected=True).focus()
    lesson.page.keyboard.press("ArrowDown")
    assert lesson.settings()["token"] == tokens - 1, "elsewhere the page scrolls"

    lesson.hit("decoder 2 5")
    assert lesson.settings()["chosen"] == "decoder.3.6" and head_title("decoder", "3.6") in lesson.said()
    lesson.click(T("lesson_lab.toggle"))
    lesson.wait(f"{ANSWERED} && lesson.scene.own.without")
    rows = lesson.get("lesson.scene.table(lesson.settings()).rows")
    assert [row[0] for row in rows if row[-1] == T("lesson_lab.yes")] == [head_title("decoder", "3.6")]
    lesson.click(T("lesson_lab.all_on"))
    lesson.wait("lesson.scene.own && !lesson.scene.own.without")

    check(lesson, "check_heads_label")
    falls = lesson.get("lesson.scene.own.check.first")
    assert f"{abs(falls[-1]):.2f}" in lesson.said()
    lesson.hit("token 1")
    assert lesson.settings()["token"] == 1
    check(lesson, "band")
    starts = {T(f"lesson_lab.say_{name}", low="", high="").split("\u201d")[0][:12] for name in ("within", "beyond")}
    assert any(start in lesson.said() for start in starts), "random vectors stand beside the effects"


def test_findings_are_pinned_beside_each_other_and_kept(bench: Any) -> None:
    lesson = bench("off")
    lesson.press("ArrowRight")
    first, chosen = lesson.said(), lesson.settings()["chosen"]
    cards = lesson.root.locator(".findings figure")
    lesson.click(T("lesson.finding_pin"))
    lesson.press("ArrowRight")
    second = lesson.said()
    lesson.click(T("lesson.finding_pin"))
    assert cards.locator("figcaption").all_inner_texts() == [first, second] and first != second
    ink = "(canvas) => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data).size"
    assert cards.nth(0).locator("canvas").evaluate(ink) > 10
    link = urlsplit(cards.nth(0).get_by_role("link", name=T("lesson.finding_open")).get_attribute("href"))
    assert settings_from_param(parse_qs(link.query)["with"][0])["chosen"] == chosen
    cards.nth(0).get_by_role("button", name=T("lesson.finding_remove")).click()
    assert cards.count() == 1
    lesson = bench("off")
    # The browser has kept the other one, without its picture.
    assert cards.locator("figcaption").all_inner_texts() == [second] and cards.locator("canvas").count() == 0
    cards.nth(0).get_by_role("button", name=T("lesson.finding_remove")).click()
    bench("off")
    assert cards.count() == 0


def test_parts_layers_and_heads_in_order_go_by_keyboard_and_picture(bench: Any) -> None:
    lesson = bench("parts")
    lesson.hit("p4")
    assert lesson.settings()["chosen"] == "p4"
    lesson.wait(f"{ANSWERED} && lesson.scene.own.chosen === 'p4'")
    lesson.press("ArrowRight")
    assert lesson.settings()["chosen"] != "p4"

    lesson = bench("depth")
    layers = lesson.get("lesson.scene.own.top.length")
    assert lesson.settings()["layer"] == layers - 1
    lesson.press("ArrowLeft", "ArrowDown")
    assert (lesson.settings()["layer"], lesson.settings()["token"]) == (layers - 2, 1)
    top = lesson.get(f"lesson.scene.own.top[{layers - 2}].map(([first]) => first)")
    assert top[0].strip("\u2581") in lesson.said()

    lesson = bench("cumulative")
    lesson.press("ArrowRight", "ArrowRight")
    assert lesson.settings()["gone"] == 2
    assert f"{abs(lesson.get('lesson.lesson.arrays.log_p.data[2]')):.1f}" in lesson.said()
    lesson.hit("cross 1 3")
    rows = lesson.get("lesson.scene.table(lesson.settings()).rows")
    assert rows[lesson.settings()["gone"]][1] == head_title("cross", "2.4")
    lesson.hit("off 70")
    assert lesson.settings()["gone"] == 70


def test_a_row_is_changed_by_hand(bench: Any) -> None:
    lesson = bench("redirect")
    assert lesson.said() == T("lesson_lab.redirect_none")
    lesson.hit("key 1 0.5")
    lesson.wait(f"{ANSWERED} && lesson.scene.own.edits.length === 1")
    assert lesson.settings()["edits"].endswith("w1.50")
    after = lesson.get("Array.from(lesson.lesson.arrays.row_after.data)")
    assert abs(after[1] - 0.5) < 1e-3 and abs(sum(after) - 1) < 1e-3
    lesson.press("ArrowRight")
    assert lesson.settings()["key"] == 2
    lesson.click(T("lesson_lab.redirect_only"))
    lesson.wait(f"{ANSWERED} && lesson.scene.own.edits.length === 2")
    check(lesson, "redirect_write")
    assert lesson.get("Boolean(lesson.scene.own.written)")
    lesson.click(T("lesson_lab.redirect_undo"))
    lesson.wait(f"{ANSWERED} && lesson.scene.own.edits.length === 1")
    lesson.click(T("lesson_lab.redirect_clear"))
    lesson.wait(f"{ANSWERED} && lesson.scene.own.edits.length === 0")

    # A bar is dragged.
    box = lesson.canvas.bounding_box()
    assert box is not None
    mouse = lesson.page.mouse
    for number, share in enumerate((0.2, 0.4, 0.6, 0.8)):
        place = lesson.get(f"lesson.stage.hit('key 0 {share}')")
        mouse.move(box["x"] + place["x"], box["y"] + place["y"])
        if number == 0:
            mouse.down()
    mouse.up()
    assert lesson.settings()["edits"].count("_") == 0 and lesson.settings()["edits"].endswith("w0.80")
    lesson.wait(f"{ANSWERED} && Math.abs(lesson.lesson.arrays.row_after.data[0] - 0.8) < 1e-3")


def test_the_methods_of_tracing(bench: Any) -> None:
    lesson = bench("trace")
    lesson.hit("attention")
    assert lesson.settings()["method"] == "attention" and T("lesson_lab.method_attention") in lesson.said()
    lesson.press("ArrowRight", "ArrowRight")
    tokens = lesson.get("lesson.scene.own.tokens")
    assert f"“{tokens[2].strip(chr(0x2581))}”" in lesson.said()
    check(lesson, "check")
    assert lesson.get("lesson.lesson.answers.method") == "attention"
    methods = lesson.get("lesson.scene.own.methods")
    lesson.press("ArrowDown")
    assert lesson.settings()["method"] == methods[methods.index("attention") + 1]

    # One token rather than another.
    lesson.get("lesson.set({ row: 0 })")
    lesson.click(T("lesson_lab.contrast"))
    lesson.wait("lesson.scene.own?.contrast")
    (_, other), *_ = lesson.get("lesson.scene.own.others[0]")
    first = lesson.get("lesson.scene.own.tokens[0]")
    assert lesson.get("lesson.scene.own.contrast.tokens") == [first, other]
    assert f"\u201c{first.strip(chr(0x2581))}\u201d rather than" in lesson.said()
    assert lesson.settings()["method"] == "leave-one-out"
    lesson.press("ArrowRight")
    lesson.wait("lesson.scene.own && !lesson.scene.own.contrast")


def test_values_are_swapped_with_those_of_a_pair_that_is_typed(bench: Any) -> None:
    lesson = bench("swap")
    assert lesson.said().endswith(T("lesson_lab.swap_foreign"))  # the sentence above is another one
    lesson.hit("cross 4 2")
    assert lesson.settings()["cell"] == "cross.5.3" and head_title("cross", "5.3") in lesson.said()
    lesson.wait(ANSWERED)
    assert lesson.get("lesson.scene.own.cell") == [2, 4, 2]
    lesson.press("ArrowRight")
    assert lesson.settings()["cell"] != "cross.5.3"
    for site in ("residual", "ffn"):
        lesson.choose(T(f"lesson_lab.site_{site}"))
        lesson.wait(f"{ANSWERED} && lesson.scene.own.site === '{site}'")
        lesson.painted(0.01)

    lesson = bench("swap", "pair:own", text="The dog is sleeping.")
    lesson.wait("lesson.scene.own?.problem === 'empty'")
    assert lesson.said() == T("lesson_lab.swap_empty")
    lesson.page.get_by_role("textbox", name=T("lesson_lab.other_sentence")).fill("The cat is sleeping.")
    lesson.wait("lesson.scene.own && !lesson.scene.own.problem")
    assert lesson.get("lesson.scene.own.corrupted") == "The cat is sleeping."
    assert T("lesson_lab.swap_foreign") not in lesson.said()


def score(lesson: Lesson, *, relative: bool = False) -> str:
    """The score of the cell that is shown, from query and key alone, as the readout writes it."""
    entry = lesson.get(
        """(() => {
            const { scene, lesson: { arrays } } = lesson, { query, key } = scene.cell(lesson.settings());
            const [q, k] = [arrays.why_dims_queries.part(0, query).data, arrays.why_dims_keys.part(0, key).data];
            const row = [...arrays.why_scores.part(query).data];
            return [q.reduce((sum, each, at) => sum + each * k[at], 0) * scene.own.scale, row];
        })()"""
    )
    value, row = entry
    return f"{value - (sum(row) / len(row) if relative else 0):.3f}".replace("-", "\u2212")


def test_a_cell_its_parts_a_part_counted_less_and_the_rows_mean_subtracted(bench: Any) -> None:
    lesson = bench("why")
    lesson.hit("cell 2 1")
    assert (lesson.settings()["query"], lesson.settings()["key"]) == (2, 1)
    for view in ("roles", "tokens", "dims"):
        lesson.choose(T(f"lesson_lab.why_{view}"))
        assert T("lesson_lab.why_sum", sum=score(lesson), score=score(lesson)) in lesson.said()
        lesson.painted(0.01)
        if view != "dims":
            rows = lesson.get("lesson.scene.table(lesson.settings()).rows")
            exact = float(score(lesson).replace("\u2212", "-"))
            assert sum(value for *_, value in rows) == pytest.approx(exact, abs=6e-4)
            largest = f"{rows[0][0]} × {rows[0][1]} {abs(rows[0][2]):.2f}"
            assert largest in lesson.said().replace("\u2212", "")

    lesson.choose(T("lesson_lab.why_tokens"))
    lesson.hit("cell 1 1")
    shown = "lesson.scene.shown(lesson.settings())"
    before = lesson.get(f"{shown}.after")
    weights = lesson.get("[...lesson.lesson.arrays.why_weights.part(1).data]")
    assert before == pytest.approx(weights, abs=1e-4)
    lesson.page.get_by_role("slider", name=T("lesson_lab.why_factor")).focus()
    lesson.page.keyboard.press("Home")
    assert lesson.settings()["factor"] == 0
    after, part = lesson.get(f"{shown}.after"), lesson.get(f"{shown}.part")
    assert sum(after) == pytest.approx(1, abs=1e-6) and after != pytest.approx(before, abs=1e-3)
    # By hand: the part of every key leaves its score, then softmax.
    expected = lesson.get(
        f"""(() => {{
            const {{ arrays }} = lesson.lesson, [a, b] = {part};
            const q = arrays.why_tokens_queries.part(a, 1).data;
            const scores = [...arrays.why_scores.part(1).data].map((score, key) => {{
                const k = arrays.why_tokens_keys.part(b, key).data;
                return score - lesson.scene.own.scale * q.reduce((sum, each, at) => sum + each * k[at], 0);
            }});
            const shares = scores.map((score) => Math.exp(score - Math.max(...scores)));
            return shares.map((share) => share / shares.reduce((sum, each) => sum + each, 0));
        }})()"""
    )
    assert after == pytest.approx(expected, abs=1e-5)

    lesson = bench("why", "chosen:encoder.1.2,view:roles")
    rows = lesson.get("lesson.scene.table(lesson.settings()).rows")
    assert len(rows) == 4, "no biases reach the first layer"
    lesson.hit("part 0 1")
    assert lesson.settings()["part"] == "roles.0.1"
    check(lesson, "why_relative")
    above = score(lesson, relative=True)
    assert T("lesson_lab.why_sum_relative", sum=above, score=above) in lesson.said()

    lesson.get("lesson.set({ chosen: 'decoder.2.2' })")
    lesson.wait("lesson.scene.own?.head === 'decoder.2.2'")
    lesson.click(T("lesson_lab.why_next_query"))
    query = lesson.settings()["query"]
    lesson.press(*["ArrowRight"] * (query + 1))  # round the keys that the mask leaves
    first = lesson.settings()["key"]
    assert lesson.settings()["query"] == query and first <= query
    lesson.press("ArrowLeft")
    assert lesson.settings()["key"] == (first - 1) % (query + 1)
    lesson.click(T("lesson_lab.why_next_head"))
    lesson.wait("lesson.scene.own?.head === 'decoder.2.3'")
    assert head_title("decoder", "2.3") in lesson.said()
    lesson.hit("cross 0 3")
    lesson.wait("lesson.scene.own?.head === 'cross.1.4'")
    assert lesson.settings()["query"] == -1


def test_a_token_is_pressed_compared_and_its_edges_are_cut(bench: Any) -> None:
    lesson = bench("flow")
    lesson.hit("1")
    lesson.wait(f"{ANSWERED} && lesson.scene.own.word === 1")
    token = lesson.get("lesson.scene.own.outputs[1]").strip("\u2581")
    assert lesson.settings()["word"] == 1 and lesson.said().startswith(token)

    cuts = lesson.get("Array.from(lesson.lesson.arrays.flow_cuts.data)")
    for place, share in ((1, "0.01"), (3, "0.05")):
        lesson.hit(f"cut {share}")
        assert lesson.settings()["share"] == share
        falls = [f"{abs(cuts[4 * row + place]):.1f}" for row in (0, 1)]
        assert all(fall in lesson.said() for fall in falls), lesson.said()

    before = lesson.said()
    lesson.get("lesson.set({ against: 'rival' })")
    lesson.wait(f"{ANSWERED} && lesson.scene.own.against === 'rival'")
    rival = lesson.get("lesson.scene.own.rivals[1]").strip("\u2581")
    assert rival in lesson.said() and lesson.said() != before
    lesson.press("ArrowRight")
    assert lesson.settings()["word"] == 2
    lesson.wait(f"{ANSWERED} && lesson.scene.own.word === 2")
    rows = lesson.get("lesson.scene.table(lesson.settings()).rows")
    assert [row[0] for row in rows][::3] == ["0.5\u202f%", "5\u202f%"] and rows[0][1] < rows[3][1]


def test_a_circuit_grows_and_the_edges_of_a_node_are_named(bench: Any) -> None:
    lesson = bench("circuit")
    pairs = lesson.get("lesson.scene.own.pairs")
    assert lesson.settings()["edges"] == 50 and lesson.said().startswith(f"{pairs} pairs")
    lesson.press("ArrowRight", "ArrowRight")
    assert lesson.settings()["edges"] == 60
    lesson.hit("encoder.1.ffn")
    value = lesson.get("lesson.scene.own.nodes.find(([name]) => name === 'encoder.1.ffn')[1]")
    assert lesson.said().startswith(f"encoder.1.ffn: {value:.1f} nats")
    strongest = lesson.get(
        "lesson.scene.own.edges.find(({ node, sender }) => [node, sender].includes('encoder.1.ffn'))"
    )
    assert f"{strongest['sender']} \u2192 {strongest['node']} {strongest['score']:.1f}" in lesson.said()
    lesson.hit("encoder.1.ffn")
    assert lesson.settings()["chosen"] == ""
    lesson.canvas.focus()
    lesson.press("ArrowDown", "ArrowDown", "ArrowDown")
    assert lesson.settings()["chosen"] == lesson.get("lesson.scene.own.nodes[2][0]")
    lesson.page.get_by_role("radio", name=T("roles.task_pronoun")).check(force=True)
    lesson.wait("lesson.scene.own.problem === 'weak'")  # models guess the gender
    assert lesson.said().endswith(T("lesson_lab.circuit_weak"))
