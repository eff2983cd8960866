"""All heads in the order of the model's head atlas, filtered, ranked in a list; heads at a snapshot of a training."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.atlas_samples import real_atlas
from tests.browser.app_driver import params, sideways
from tests.browser.conftest import CheckAccessibility, OpenPage, checkpoint
from tests.browser.explorer_driver import state
from tests.browser.rest import settled, until, wait_until_idle
from transformer_core.atlas.controls import survivors
from transformer_core.atlas.measures import measure_named
from transformer_core.atlas.naming import head_roles
from transformer_core.attention_maps import KINDS
from transformer_core.head import head_named
from transformer_core.history.snapshots import History
from viz_app.model_card.histories import available_histories
from viz_app.text import texts
from viz_app.text.role_words import head_words, plain_words

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = texts("en")
ATLAS = real_atlas()


def names(page: Page, kind: str) -> list[str]:
    """Names of the heads of a kind as their tiles stand, such as 6.4."""
    shown: list[str] = page.locator(f".block[data-kind={kind}] .tile").evaluate_all("a => a.map((e) => e.dataset.head)")
    return shown


def expected(measure: str, kind: str) -> list[str]:
    values = {head[1:]: value for head, value in measure_named(ATLAS, measure).rows() if head.kind == kind}
    ranked = sorted(values, key=lambda place: (-round(values[place], 5), place))
    return [f"{layer + 1}.{head + 1}" for layer, head in ranked]


def test_the_page_model_leads_to_all_heads_by_role_which_are_ordered_filtered_and_listed(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility
) -> None:
    page = open_page(f"{app_url}/model?lang=en")
    page.get_by_role("button", name=T("atlas.by_role")).click()
    page.wait_for_url("**order=atlas-role**")
    roles = head_roles(ATLAS)
    with_role = sum(bool(result) for head, result in roles.items() if head[0] == "encoder")
    assert with_role and until(page, lambda: len(names(page, "encoder")) == 48)

    def words(name: str) -> str:
        return head_words(T, "encoder", roles[head_named(f"encoder.{name}")][:1])

    def grouped() -> bool:
        shown = [words(name) for name in names(page, "encoder")]
        changes = sum(one != other for one, other in itertools.pairwise(shown))
        return changes == len(set(shown)) - 1 and shown[-1] == T("roles.none")

    assert until(page, grouped), "heads of one role beside each other, those without one last"

    page.locator(".order-select").select_option("atlas-effect")
    page.locator(".only-select").select_option("none")
    assert until(page, lambda: names(page, "encoder") == expected("effect", "encoder"))
    assert until(page, lambda: params(page).get("order") == "atlas-effect")
    for kind in KINDS:
        assert names(page, kind) == expected("effect", kind)
    without = [head for head in roles if not roles[head]]
    assert until(page, lambda: page.locator(".tile:not(.unmatched)").count() == len(without))
    assert T("explorer.only_matching", count=len(without), all=len(roles)) in page.locator(".count").inner_text()
    page.locator(".only-select").select_option("significant")
    assert ATLAS.effects
    surviving = {head for head in roles if survivors(ATLAS.effects, "mean")[head[0]][head[1], head[2]]}
    assert until(page, lambda: page.locator(".tile:not(.unmatched)").count() == len(surviving))
    assert until(page, lambda: params(page).get("only") == "significant")

    page.get_by_role("button", name=T("explorer.list"), exact=True).click()
    rows = page.locator(".overview .table tbody tr")
    ranked = [row for row in measure_named(ATLAS, "effect").rows() if row[0] in surviving]
    best, value = max(ranked, key=lambda row: row[1])
    cells = rows.first.locator("th, td").all_inner_texts()
    assert cells[:3] == ["1", str(best), plain_words(T, best.kind, roles[best])]
    assert cells[3] == f"{value:.3f}" and len(cells) == 6
    assert rows.count() == len(surviving)
    check_accessibility(page)
    rows.first.get_by_role("button").press("Enter")
    assert until(page, lambda: (state(page, "zoom"), state(page, "kind")) == ("head", best.kind))
    assert (state(page, "layer"), state(page, "head")) == (best.layer, best.head)
    page.locator(".card-button").click()
    assert until(page, lambda: page.locator(".atlas-plain").is_visible()), "the one card of a head"


def test_what_nobody_looks_at_on_the_page_model_is_not_loaded(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/model?lang=en")
    page.locator(".explorer .tile").first.wait_for()
    settled(page)
    charts, tables = page.locator(".js-plotly-plot"), page.locator(".st-key-card table")
    loaded = (
        "() => performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => /Plotly/.test(name))"
    )
    assert page.evaluate(loaded) == [] and charts.count() == tables.count() == 0
    page.locator(".st-key-growth-curves").evaluate("(place) => place.scrollIntoView()")
    assert until(page, lambda: charts.count() >= 2)
    page.locator(".st-key-pruning").evaluate("(place) => place.scrollIntoView()")
    assert until(page, lambda: charts.count() == 3)
    page.get_by_text(T("model.numbers")).click()
    assert until(page, lambda: tables.count() > 2)


@pytest.mark.parametrize(("width", "language"), [(1280, "en"), pytest.param(390, "ko", marks=pytest.mark.slow)])
def test_the_explorer_shows_the_snapshot_of_the_slider(
    open_page: OpenPage, app_url: str, check_accessibility: CheckAccessibility, width: int, language: str
) -> None:
    source = available_histories(checkpoint())[0]
    history = History.load(source.folder)
    last = len(history.steps) - 1
    page = open_page(
        f"{app_url}/model?lang={language}&head=encoder.2.3&grown_at={history.steps[last - 1]}", width=width
    )
    page.locator(".explorer .tile").first.wait_for()

    def shown() -> Any:
        view = "explorer.translation.view('encoder', 'tokens', explorer.translation.length)"
        rows = "view.queries.map((_, q) => view.keys.map((_, k) => view.at(1, 2, q, k)))"
        return page.locator(".explorer").evaluate(f"({{ explorer }}) => {{ const view = {view}; return {rows}; }}")

    def is_snapshot(number: int) -> bool:
        result, maps = np.array(shown()), history.sentences[0].maps(number).encoder[1, 2]
        return result.shape == maps.shape and bool(np.abs(result - maps).max() < 1e-4)

    assert is_snapshot(last - 1) and (state(page, "kind"), state(page, "layer")) == ("encoder", 1)
    slider = page.get_by_role("slider", name=texts(language)("growth.moment"))
    slider.focus()
    slider.press("ArrowRight")
    assert until(page, lambda: is_snapshot(last))
    assert (state(page, "kind"), state(page, "layer"), state(page, "head")) == ("encoder", 1, 2), "the head stays"
    page.wait_for_url(f"**grown_at={history.steps[last]}**")
    wait_until_idle(page)
    assert (
        texts(language)("growth.role_source", count=len(history.sentences)) in page.locator(".head-role").inner_text()
    )
    assert sideways(page) <= 0
    check_accessibility(page)


def test_in_a_high_window_all_of_the_page_model_is_drawn(open_page: OpenPage, app_url: str) -> None:
    page = open_page(f"{app_url}/model?lang=en", height=4_500)
    page.locator(".js-plotly-plot").nth(2).wait_for()
    page.locator(".st-key-own-model code").first.wait_for()
