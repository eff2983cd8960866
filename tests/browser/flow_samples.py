"""The flow of a made-up translation, as `viz_app/explorer_view/flow.py` sends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_core.attention_maps import KINDS

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from transformer_core.attention_maps import AttentionMaps

SHARE = 0.98  # of all flow that the list of ways carries
MOST = 1_500
GIVE = """([name, value]) => {
    const shared = globalThis[Symbol.for("headlight.findings")];
    shared.set(undefined, { ...shared.get(undefined), [name]: value });
    dispatchEvent(new Event("headlight.findings"));
}"""


def flow_of(maps: AttentionMaps, *, seed: int = 6, against: str | None = None, at: int | None = None) -> dict[str, Any]:
    """Every word of a translation, or of a contrast the one `at` a position."""
    count = len(maps.outputs)
    words = [_word(maps, position, seed) if at in (None, position) else None for position in range(count)]
    lens = [[maps.outputs.tokens[(layer + i) % count] for i in range(count)] for layer in range(len(maps.decoder) + 1)]
    where = {"model": "en-de", "source": "", "tokens": list(maps.outputs.tokens), "against": against, "at": at}
    return {**where, "words": words, "lens": lens}


def _word(maps: AttentionMaps, position: int, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng([seed, position])
    source = generator.normal(1.0, 3.0, len(maps.source)).round(2) + 0.002
    inputs = generator.normal(1.0, 3.0, len(maps.inputs)).round(2) + 0.002
    inputs[position + 1 :] = 0.0
    ways = []
    for number, kind in enumerate(KINDS):
        mean = maps.weights(kind).mean(1)
        flows = mean**2 * generator.normal(2.0, 4.0, mean.shape)
        for layer, query, key in np.argwhere(mean > 0).tolist():
            if kind == "encoder" or query <= position:
                ways.append((number, layer, query, key, float(flows[layer, query, key])))
    ways.sort(key=lambda way: -abs(way[4]))
    sizes = np.cumsum([abs(way[4]) for way in ways])
    there = ways[: min(MOST, int(np.searchsorted(sizes, SHARE * sizes[-1])) + 1)]
    biases = -20.0

    def states(rows: int, columns: int) -> list[list[float]]:
        numbers: list[list[float]] = generator.normal(0.0, 4.0, (rows, columns)).round(2).tolist()
        return numbers

    return {
        "logit": float(source.sum() + inputs.sum() + biases),
        "source": source.tolist(),
        "inputs": inputs.tolist(),
        "biases": biases,
        "total": float(sizes[-1]),
        "count": len(ways),
        "ways": [number for way in there for number in way[:4]],
        "flows": [way[4] for way in there],
        "heads": [[0, way[4] / 2, 3, way[4] / 4] for way in there],
        "states": {
            "encoder": states(len(maps.encoder) + 1, len(maps.source)),
            "decoder": states(len(maps.decoder) + 1, len(maps.inputs)),
        },
        "residuals": {
            "encoder": states(len(maps.encoder), len(maps.source)),
            "decoder": states(len(maps.decoder), len(maps.inputs)),
        },
        "neurons": [1, 2, position, 40, 1.5, 1, 2, position, 7, -0.5],
    }


def give(page: Page, name: str, value: dict[str, Any] | None) -> None:
    """Make a finding known to the explorer."""
    page.evaluate(GIVE, [name, value])
