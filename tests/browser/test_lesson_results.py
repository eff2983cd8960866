"""The lesson on results in a real browser: the paper's Table 3 and ours side by side."""

from __future__ import annotations

from tests.browser.conftest import OpenLesson
from viz_app.lessons.labels import labels
from viz_app.lessons.results.paper_results import TABLE_3
from viz_app.lessons.results.reduced_table import load_results

T = labels("en")


def test_ours_beside_the_papers(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("results", "variations", settings="row:C")
    lesson.painted(0.004)
    assert "best is dff = 4096 with 26.2, worst N = 2 with 23.7" in lesson.said()
    lesson.choose(T("lesson_results.all_rows"))
    lesson.choose(T("lesson_results.measure_perplexity"))
    assert lesson.settings() == {"row": "all", "measure": "perplexity"}
    assert "best is big with 4.33, worst N = 2 with 6.11" in lesson.said()
    lesson.click(T("lesson.table"))
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


def test_a_chart_that_is_missing_is_said(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("results", "variations")
    lesson.get("(lesson.scene.set.charts['A perplexity'] = null)")
    lesson.choose("perplexity")
    lesson.painted(0.0005)
