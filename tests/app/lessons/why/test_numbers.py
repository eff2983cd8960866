"""Table 1 in the browser against transformer_core."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

from transformer_core.paper.complexity import LAYERS, layer_cost

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
