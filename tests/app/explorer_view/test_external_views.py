"""The other views, and how long a sentence may be for each of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.browser.explorer_samples import SENTENCE, long_sample, sample
from viz_app.components.explorer.selection import OTHER_VIEWS, OtherView, Selection
from viz_app.explorer_view.external_views import MAX_WEIGHTS, drawing_cost, head_figure, select_maps
from viz_app.figures import Request, layer_heads, one_head
from viz_app.state.query_params import other_view_from_params


@pytest.mark.parametrize(("view", "heads"), [("plotly", 1), ("head", 8), ("model", 48)])
def test_the_limit_in_tokens_is_the_longest_that_fits(view: OtherView, heads: int) -> None:
    tokens = drawing_cost(long_sample(10), Selection(), view).tokens
    fitting, over = (drawing_cost(long_sample(n), Selection(), view) for n in (tokens, tokens + 1))
    assert fitting.is_within_limit and not over.is_within_limit
    assert (fitting.weights, fitting.limit) == (heads * tokens**2, MAX_WEIGHTS[view])
    assert fitting.tokens == over.tokens == tokens >= 50


def test_heads_side_by_side_count_all() -> None:
    maps = long_sample(12)
    assert drawing_cost(maps, Selection(view="layer"), "plotly").weights == 8 * 12 * 12


def test_maps_follow_step_and_unit() -> None:
    maps = sample(*SENTENCE)
    cut = select_maps(maps, Selection(step=3))
    assert cut.cross.shape[2] == 3 and cut.outputs.tokens == maps.outputs.tokens[:3]
    words = select_maps(maps, Selection(unit="words"))
    assert words.source.tokens == maps.source.word_texts
    np.testing.assert_allclose(words.cross.sum(axis=-1), 1, atol=1e-5)
    assert select_maps(maps, Selection()) is maps


def test_the_figure_is_the_one_of_the_selection() -> None:
    maps = sample(*SENTENCE)
    options = {"language": "ko", "theme": "dark", "provenance": {"source": "x"}}
    chosen = Selection(kind="decoder", layer=1, head=2, step=4, unit="words")
    (panel,) = head_figure(maps, chosen, **options).panels  # type: ignore[arg-type]
    request = Request(maps=maps, kind="decoder", layer=1, head=2, language="ko", unit="words", step=4)
    (expected,) = one_head(request).panels
    assert (panel.weights == expected.weights).all() and panel.query_labels == expected.query_labels
    side = head_figure(maps, Selection(kind="cross", layer=1, view="layer"), **options)  # type: ignore[arg-type]
    assert side.theme == "dark" and side.language == "ko" and side.provenance["source"] == "x"
    assert len(side.panels) == len(layer_heads(Request(maps=maps, layer=1)).panels) == 8


def test_the_address_names_a_view_or_none() -> None:
    assert [other_view_from_params({"other": view}) for view in OTHER_VIEWS] == list(OTHER_VIEWS)
    for bad in ("", "HEAD", "bertviz", "<b>", "../head"):
        assert other_view_from_params({"other": bad}) is None
    assert other_view_from_params({}) is None
