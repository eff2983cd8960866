"""Table 1 in the browser against transformer_core."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from tests.app.lessons.conftest import Visit
from tests.app.lessons.results.test_numbers import context
from transformer_core.paper.complexity import LAYERS, layer_cost
from viz_app.figures import CurvesFigure, export
from viz_app.lessons.jobs.layer_benchmark import KINDS, LayerBenchmark
from viz_app.lessons.why import numbers as why

CASES = [{"n": n, "d": d, "k": k, "r": r} for n, d, k, r in product((1, 2, 11, 70, 512), (64, 512), (3, 7), (1, 8))]


def test_the_browser_works_out_the_same_table(javascript: Callable[[str], Any]) -> None:
    table = javascript(
        'import * as t from "./lessons/why/js/table1.js";'
        f"console.log(JSON.stringify({json.dumps(CASES)}.map((c) => "
        "t.LAYERS.map((l) => [t.operations(l, c), t.sequential(l, c), t.path(l, c)]))))"
    )
    expected = [
        [[cost.operations, cost.sequential, cost.path] for cost in (layer_cost(layer, **case) for layer in LAYERS)]
        for case in CASES
    ]
    assert table == expected


def test_the_figure_crosses_where_the_length_is_the_width() -> None:
    drawn = why.figure("crossover", context(d="512"))
    assert isinstance(drawn, CurvesFigure)
    attention, recurrent, _ = drawn.series
    assert attention.ys[510] < recurrent.ys[510]
    assert attention.ys[511] == recurrent.ys[511]
    assert attention.ys[512] > recurrent.ys[512]


def test_the_figure_of_the_table_has_a_curve_for_each_different_row() -> None:
    drawn = why.figure("costs", context(d="64", k=5.0))
    assert isinstance(drawn, CurvesFigure) and drawn.x_log and drawn.y_log
    assert len(drawn.series) == len(LAYERS) - 1, "a dilated convolution has the operations of a plain one"
    for series, layer in zip(drawn.series, [each for each in LAYERS if each != "dilated"], strict=True):
        assert series.ys[99] == layer_cost(layer, n=100, d=64, k=5, r=why.RESTRICTED_TO).operations
    assert "d = 64, k = 5" in drawn.caption


def test_what_is_measured_is_news_and_a_figure(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    times = LayerBenchmark(lengths=(2, 4), pause=lambda seconds: None)
    monkeypatch.setattr(why, "layer_benchmark", lambda: times)
    shown = visit("timed", d="256")
    assert why.figure("timed", shown) is None and why.live_data(shown).values["machine"] is None
    before = why.live_data(shown).drawn
    why.on_button(shown, "nonsense")
    assert times.view().state == "idle"
    why.on_button(shown, "measure")
    assert times.thread is not None
    times.thread.join(30)
    measured = why.live_data(shown)
    assert measured.values["state"] == "done" and measured.values["width"] == 256 and measured.drawn != before
    assert [point[:2] for point in measured.values["points"]["256"]] == [(kind, n) for n in (2, 4) for kind in KINDS]
    assert json.loads(json.dumps(measured.values)) and set(measured.values["crossings"]) == {"256"}
    drawn = why.figure("timed", shown)
    assert isinstance(drawn, CurvesFigure) and len(drawn.series) == len(KINDS)
    assert all(series.marked for series in drawn.series), "what lies between the points was not measured"
    assert [series.ys.tolist() for series in drawn.series] == [
        [point.seconds for point in times.view().points[256] if point.kind == kind] for kind in KINDS
    ]
    assert drawn.provenance["machine"]["cores"] >= 1 and export(drawn, "svg") and export(drawn, "tex")
    other = visit("timed", language="ko", d="64")
    assert why.figure("timed", other) is None
    why.prepare("costs", other)
    assert times.view().number == 1
    why.prepare("timed", other)
    assert why.figure("timed", other) is not None, "the command line measures for its picture"
