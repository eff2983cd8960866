"""Why there? in the browser: cells, parts and heads are pressed; a part is counted less; what stands there adds up."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.conftest import CheckAccessibility, OpenLesson
from tests.browser.lesson_driver import Lesson
from viz_app.lessons.labels import labels

T = labels("en")
PLACES = "lesson.scene.places(lesson.stage.pen(null))"


def ready(lesson: Lesson) -> Lesson:
    lesson.wait("lesson.scene.own && lesson.scene.cells")
    lesson.painted(0.01)
    return lesson


def press_cell(lesson: Lesson, query: int, key: int) -> None:
    cells = lesson.get("lesson.scene.cells")
    x, y = (cells[edge] + (at + 0.5) * cells["cell"] for edge, at in (("left", key), ("top", query)))
    lesson.canvas.click(position={"x": x, "y": y})


def score(lesson: Lesson) -> float:
    """The score of the cell that is shown, from query and key alone."""
    return float(
        lesson.get(
            """(() => {
                const { scene, lesson: { arrays } } = lesson, { query, key } = scene.cell(lesson.settings());
                const [q, k] = [arrays.why_dims_queries.part(0, query).data, arrays.why_dims_keys.part(0, key).data];
                return q.reduce((sum, each, at) => sum + each * k[at], 0) * scene.own.scale;
            })()"""
        )
    )


def test_a_cell_and_its_parts(open_lesson: OpenLesson, check_accessibility: CheckAccessibility) -> None:
    lesson = ready(open_lesson("lab", "why"))
    press_cell(lesson, 2, 1)
    assert (lesson.settings()["query"], lesson.settings()["key"]) == (2, 1)
    for view in ("roles", "tokens", "dims"):
        lesson.choose(T(f"lesson_lab.why_{view}"))
        shown = f"{score(lesson):.3f}".replace("-", "\u2212")
        assert T("lesson_lab.why_sum", sum=shown, score=shown) in lesson.said()
        lesson.painted(0.01)
        if view != "dims":
            rows = lesson.get("lesson.scene.table(lesson.settings()).rows")
            assert sum(value for *_, value in rows) == pytest.approx(score(lesson), abs=1e-4)
            largest = f"{rows[0][0]} × {rows[0][1]} {abs(rows[0][2]):.2f}"
            assert largest in lesson.said().replace("\u2212", "")
    check_accessibility(lesson.page)


def test_a_part_is_counted_less_until_the_row_has_changed(open_lesson: OpenLesson) -> None:
    lesson = ready(open_lesson("lab", "why", settings="view:tokens,query:1,key:1"))
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


def test_a_part_is_pressed_and_the_rows_mean_subtracted(open_lesson: OpenLesson) -> None:
    lesson = ready(open_lesson("lab", "why", settings="chosen:encoder.0.1,view:roles"))
    view = lesson.get(f"{PLACES}.view")
    shown = lesson.get(
        """(() => {
            const { matrix } = lesson.scene.shown(lesson.settings());
            return { rows: matrix.rows, columns: matrix.columns };
        })()"""
    )
    assert shown["rows"] == shown["columns"] == [0, 1]  # no biases reach the first layer
    lesson.canvas.click(position={"x": view["x"] + 150, "y": view["y"] + 56})
    chosen = lesson.settings()["part"]
    assert chosen.startswith("roles.0.")
    lesson.page.get_by_role("checkbox", name=T("lesson_lab.why_relative")).check(force=True)
    seen = lesson.get("[...lesson.lesson.arrays.why_scores.part(lesson.scene.cell(lesson.settings()).query).data]")
    above = f"{score(lesson) - sum(seen) / len(seen):.3f}".replace("-", "\u2212")
    assert T("lesson_lab.why_sum_relative", sum=above, score=above) in lesson.said()


def test_heads_and_cells_by_keyboard(open_lesson: OpenLesson) -> None:
    window: dict[str, Any] = {"width": 390, "height": 844, "dark": True, "lang": "ko"}
    lesson = ready(open_lesson("lab", "why", settings="chosen:decoder.1.1", **window))
    known = labels("ko")
    lesson.click(known("lesson_lab.why_next_query"))
    query = lesson.settings()["query"]
    lesson.press(*["ArrowRight"] * (query + 1))  # round the keys that the mask leaves
    first = lesson.settings()["key"]
    assert lesson.settings()["query"] == query and first <= query
    lesson.press("ArrowLeft")
    assert lesson.settings()["key"] == (first - 1) % (query + 1)
    lesson.click(known("lesson_lab.why_next_head"))
    lesson.wait("lesson.scene.own?.head === 'decoder.1.2'")
    name = known("lesson_lab.head_title", kind=known("lesson_lab.decoder"), head="2.3")
    assert name in lesson.said()
    tile = lesson.get(f"{PLACES}.map.grid.tile('cross', 0, 3)")
    lesson.canvas.click(position={"x": tile["x"] + 4, "y": tile["y"] + 4})
    lesson.wait("lesson.scene.own?.head === 'cross.0.3'")
    assert lesson.settings()["query"] == -1
