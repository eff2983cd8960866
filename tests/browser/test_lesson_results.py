"""The lesson on results in a real browser: the paper's Table 3 and ours side by side."""

from __future__ import annotations

from collections import Counter

from tests.browser.conftest import OpenLesson
from viz_app.lessons.labels import labels
from viz_app.lessons.results.paper_results import TABLE_3
from viz_app.lessons.results.reduced_table import Measure, Verdict, load_results, reduced_result

T = labels("en")
VERDICTS: tuple[Verdict, ...] = ("same", "other", "noise")


def told(measure: Measure, row: str) -> str:
    """How far ours agree, counted here."""
    results = load_results()
    assert results is not None
    lines = [line.preset for line in TABLE_3 if row in (line.row, "all") and line.row != "base"]
    found = [reduced_result(results, preset, measure) for preset in lines]
    counts = Counter(each.verdict for each in found if each)
    same, other, noise = (counts[verdict] for verdict in VERDICTS)
    return T("lesson_results.reduced_say", count=len(lines), same=same, other=other, noise=noise)


def test_ours_beside_the_papers(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("results", "variations", settings="row:C")
    lesson.painted(0.004)
    assert "best is dff = 4096 with 26.2, worst N = 2 with 23.7" in lesson.said()
    assert told("bleu", "C") in lesson.said()
    lesson.choose(T("lesson_results.all_rows"))
    lesson.choose(T("lesson_results.measure_perplexity"))
    assert lesson.settings() == {"row": "all", "measure": "perplexity"}
    assert "best is big with 4.33, worst N = 2 with 6.11" in lesson.said()
    assert told("perplexity", "all") in lesson.said()
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


def test_without_our_numbers_it_says_so(open_lesson: OpenLesson) -> None:
    lesson = open_lesson("results", "variations")
    lesson.get(
        """{
            lesson.lesson.values.reduced = null;
            for (const line of lesson.lesson.values.variations) line.ours = null;
        }"""
    )
    for measure in ("perplexity", "parameters", "BLEU"):
        lesson.choose(measure)
        lesson.painted()
    assert lesson.said().endswith(T("lesson_results.reduced_missing"))
