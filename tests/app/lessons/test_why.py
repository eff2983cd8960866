"""Table 1 in the browser against transformer_core."""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import product

import pytest

from tests.app.lessons.test_results import context
from transformer_core.complexity import LAYERS, layer_cost
from viz_app.components import lesson as component
from viz_app.figures import CurvesFigure
from viz_app.services.lessons import why

CASES = [{"n": n, "d": d, "k": k, "r": r} for n, d, k, r in product((1, 2, 11, 70, 512), (64, 512), (3, 7), (1, 8))]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_browser_works_out_the_same_table() -> None:
    path = next(iter(component.__path__)) + "/js/why/table1.js"
    script = (
        f"import({json.dumps('file://' + path)}).then((t) => console.log(JSON.stringify({json.dumps(CASES)}.map((c) => "
        "t.LAYERS.map((l) => [t.operations(l, c), t.sequential(l, c), t.path(l, c)])))))"
    )
    answer = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True, timeout=60)
    expected = [
        [[cost.operations, cost.sequential, cost.path] for cost in (layer_cost(layer, **case) for layer in LAYERS)]
        for case in CASES
    ]
    assert json.loads(answer.stdout) == expected


def test_the_figure_crosses_where_the_length_is_the_width() -> None:
    drawn = why.figure("crossover", context(d="512"))
    assert isinstance(drawn, CurvesFigure)
    attention, recurrent, _ = drawn.series
    assert attention.ys[510] < recurrent.ys[510]
    assert attention.ys[511] == recurrent.ys[511]
    assert attention.ys[512] > recurrent.ys[512]
