"""Table 1 in the browser against transformer_core."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from tests.app.lessons.conftest import Visit
from transformer_core.paper.complexity import LAYERS, layer_cost
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


def test_what_is_measured_is_sent(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    times = LayerBenchmark(lengths=(2, 4), pause=lambda seconds: None)
    monkeypatch.setattr(why, "layer_benchmark", lambda: times)
    shown = visit("timed", d="256")
    assert why.live_data(shown).values["machine"] is None
    why.on_button(shown, "nonsense")
    assert times.view().state == "idle"
    why.on_button(shown, "measure")
    assert times.thread is not None
    times.thread.join(30)
    measured = why.live_data(shown)
    assert measured.values["state"] == "done" and measured.values["width"] == 256
    assert [point[:2] for point in measured.values["points"]["256"]] == [(kind, n) for n in (2, 4) for kind in KINDS]
    assert json.loads(json.dumps(measured.values)) and set(measured.values["crossings"]) == {"256"}
    assert [point[2] for point in measured.values["points"]["256"]] == [p.seconds for p in times.view().points[256]]
    assert measured.values["machine"]["cores"] >= 1
