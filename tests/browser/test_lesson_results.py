"""The lesson on results in a real browser: the paper's Table 3 and ours side by side."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.browser.conftest import OpenPage
from tests.browser.lesson_driver import FIND, ROOT, address, painted, ready, settings
from viz_app.lessons.labels import labels
from viz_app.lessons.results.paper_results import TABLE_3
from viz_app.lessons.results.reduced_table import Measure, Verdict, load_results, reduced_result

if TYPE_CHECKING:
    from playwright.sync_api import Page

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


def choose(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).check(force=True)


def test_ours_beside_the_papers(open_page: OpenPage, app_url: str) -> None:
    page = open_page(address(app_url, "results", scene="variations", **{"with": "row:C"}))
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    painted(page, 0.004)
    readout = page.locator(".readout")
    assert "best is d_ff = 4096 with 26.2, worst N = 2 with 23.7" in readout.inner_text()
    assert told("bleu", "C") in readout.inner_text()
    choose(page, T("lesson_results.all_rows"))
    choose(page, T("lesson_results.measure_perplexity"))
    assert settings(page) == {"row": "all", "measure": "perplexity"}
    assert "best is big with 4.33, worst N = 2 with 6.11" in readout.inner_text()
    assert told("perplexity", "all") in readout.inner_text()
    page.get_by_role("button", name=T("lesson.table"), exact=True).click()
    rows = page.locator(".numbers tbody tr")
    assert rows.count() == len(TABLE_3)
    results = load_results()
    assert results is not None
    for index, line in enumerate(TABLE_3):
        spread = results.spread(line.preset, "perplexity")
        assert spread is not None
        assert f"{spread.mean:.2f}" in rows.nth(index).inner_text()
        assert f"{line.bleu:.1f}" in rows.nth(index).inner_text()
    choose(page, T("lesson_results.measure_parameters"))
    painted(page, 0.004)
    assert readout.inner_text() == T("lesson_results.parameters_say")


def test_without_our_numbers_it_says_so(open_page: OpenPage, app_url: str) -> None:
    page = open_page(address(app_url, "results", scene="variations"))
    page.locator(".lesson canvas").wait_for()
    page.evaluate(FIND)
    ready(page)
    page.evaluate(
        f"""() => {{
            const {{ lesson }} = {ROOT}.lesson;
            lesson.values.reduced = null;
            for (const line of lesson.values.variations) line.ours = null;
        }}"""
    )
    for measure in ("perplexity", "parameters", "BLEU"):
        choose(page, measure)
        painted(page, 0.002)
    assert page.locator(".readout").inner_text().endswith(T("lesson_results.reduced_missing"))
