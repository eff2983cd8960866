from __future__ import annotations

import numpy as np
import pytest

from tests.app.figures.samples import layer_heads, one_head
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures.colours.palette import THEMES, Theme, scale
from viz_app.figures.plotly.renderer import _diagonals, heatmaps


@pytest.mark.parametrize("theme", THEMES)
def test_plotly_has_the_shared_scale_from_zero_to_one(maps: AttentionMaps, theme: Theme) -> None:
    trace = heatmaps(one_head(maps, "cross", 0, 0, theme=theme)).data[0]
    assert tuple(color for _, color in trace.colorscale) == tuple("#" + color.tobytes().hex() for color in scale(theme))
    np.testing.assert_allclose([place for place, _ in trace.colorscale], np.arange(256) / 255)
    assert (trace.zmin, trace.zmax) == (0, 1)


def test_one_heatmap_for_each_panel_on_numeric_axes(maps: AttentionMaps) -> None:
    for figure, count in (
        (one_head(maps, "cross", 0, 0), 1),
        (layer_heads(maps, "cross", 0), 8),
    ):
        drawn = heatmaps(figure)
        assert [trace.type for trace in drawn.data] == ["heatmap"] * count
        assert drawn.layout.xaxis.type == drawn.layout.yaxis.type == "linear"
        for trace, panel in zip(drawn.data, figure.panels, strict=True):
            np.testing.assert_array_equal(trace.z, panel.weights)


def test_equal_tokens_keep_their_own_columns() -> None:
    from tests.app.figures.conftest import make_maps

    maps = make_maps(("\u2581the", "\u2581the", "1", "1"), ("\u2581der", "\u2581der"), layers=1, heads=1)
    axis = heatmaps(one_head(maps, "cross", 0, 0)).layout.xaxis
    assert axis.ticktext == ("the", "the", "1", "1", "&lt;/s&gt;")
    assert axis.tickvals == (0, 1, 2, 3, 4)


def test_hover_has_the_exact_weight_and_says_what_is_masked(maps: AttentionMaps) -> None:
    trace = heatmaps(one_head(maps, "decoder", 1, 2)).data[0]
    assert np.float32(trace.customdata[4][2][2]) == maps.decoder[1, 2, 4, 2]
    assert trace.customdata[2][4][2] == "masked: future token"
    assert np.isnan(trace.z[2][4])
    assert trace.customdata[1][0][0] == "Der (generates next: Hu)"


def test_every_masked_cell_has_a_stroke_and_no_other() -> None:
    masked = np.array([[0, 1, 1], [0, 0, 1], [1, 0, 0]], dtype=bool)
    touched = np.zeros_like(masked)
    for x0, y0, x1, y1 in _diagonals(masked):
        assert x1 - x0 == y0 - y1 > 0
        for step in range(round(x1 - x0)):
            touched[round(y0 - 0.5) - step, round(x0 + 0.5) + step] = True
    np.testing.assert_array_equal(touched, masked)


def test_no_token_is_markup(hostile: AttentionMaps) -> None:
    """Plotly reads tags, which begin with "<", and nothing else."""
    drawn = heatmaps(one_head(hostile, "cross", 0, 0))
    words = [*drawn.layout.xaxis.ticktext, *drawn.layout.yaxis.ticktext, *np.ravel(drawn.data[0].customdata)]
    assert "&lt;s&gt;" in words and "&amp;lt;b&amp;gt;" in words
    assert not [word for word in words if "<" in str(word)]
