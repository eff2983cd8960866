"""Print the tables of docs/circuits.md from the atlases of the shipped models.

--limits measures two things more for the number of the subject in German: what is left without the circuit, and what
it keeps if other edges carry means.

Run: python -m benchmarks.circuit_findings [--limits]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

import transformer_core as tc
from transformer_core.analysis.circuit.masked_run import Rest, masked_logits
from transformer_core.analysis.circuit.pairs import metric_of
from transformer_core.analysis.circuit.passes import both_passes
from transformer_core.analysis.circuit.wiring import SOURCE, Wiring
from transformer_core.atlas.circuits import SHARES
from transformer_core.atlas.record import Atlas, TaskCircuit
from transformer_core.atlas.storage import shipped_atlas

CHECKPOINTS = Path(__file__).parents[1] / "checkpoints"
MODELS = ("en-de", "en-fr")
_NAMED = 3  # heads, and networks, of a row
BEHAVIOUR = (
    "| task | pairs | groups | both right | clean | corrupted | strongest heads | strongest networks |",
    "|---|---|---|---|---|---|---|---|",
)
CIRCUIT = (
    "| task | edges | kept | random | CPR | CMD | halves | heads | networks |",
    "|---|---|---|---|---|---|---|---|---|",
)


def behaviour(atlas: Atlas, task: str) -> str:
    """Return the row of a task: pairs, metric, and the strongest nodes beyond the null, with their intervals."""
    circuit = (atlas.circuits or {})[task]
    heads, networks = (", ".join(_strongest(atlas, circuit, network)) or "none" for network in (False, True))
    cells = [
        f"{circuit.pairs:,}",
        str(circuit.groups),
        f"{circuit.right:.0%}".replace("%", " %"),
        *(f"{value:.1f}" for value in (circuit.clean, circuit.corrupted)),
        *(("too weak", "too weak") if circuit.curve is None else (heads, networks)),
    ]
    return _row(task, cells)


def faithful(atlas: Atlas, task: str) -> str | None:
    """Return the row of a task: its smallest circuit that keeps 80 % on held-out pairs; None for weak behaviour."""
    circuit = (atlas.circuits or {})[task]
    if circuit.curve is None or circuit.overlap is None:
        return None
    curve, cells = circuit.curve, ["none", "", ""]
    if circuit.smallest is not None:
        at = curve.edges.index(circuit.smallest)
        cells = [f"{circuit.smallest:,}", f"{curve.kept[at]:.2f}", f"{curve.random[:, at].max():.2f}"]
    names = Wiring(atlas.layers, atlas.heads).senders
    networks = sum(names[node].endswith(".ffn") for node in circuit.carriers)
    heads = len(circuit.carriers) - networks
    cells += [f"{curve.cpr:.3f}", f"{curve.cmd:.3f}", f"{circuit.overlap:.2f}", str(heads), str(networks)]
    return _row(task, [cell.replace("-0.00", "0.00") for cell in cells])


def _strongest(atlas: Atlas, circuit: TaskCircuit, network: bool) -> Iterator[str]:
    names, scores = Wiring(atlas.layers, atlas.heads).senders, circuit.scores
    nodes = [node for node in np.abs(scores.value).argsort()[::-1] if names[node].endswith(".ffn") == network]
    nodes = [node for node in nodes if names[node] != SOURCE and abs(scores.value[node]) > circuit.null_limits[node]]
    for node in nodes[:_NAMED]:
        yield f"{names[node]} {scores.value[node]:.1f} [{scores.low[node]:.1f}, {scores.high[node]:.1f}]"


def _row(task: str, cells: list[str]) -> str:
    return f"| {task.partition('.')[0]} | {' | '.join(cells)} |"


def tables() -> str:
    """Return both tables of every model, each under its name."""
    parts = []
    for model in MODELS:
        atlas = shipped_atlas(CHECKPOINTS / model)
        assert atlas is not None and atlas.circuits
        rows = [row for task in atlas.circuits if (row := faithful(atlas, task))]
        parts += [f"### {model}", "\n".join((*BEHAVIOUR, *(behaviour(atlas, task) for task in atlas.circuits)))]
        parts += ["\n".join((*CIRCUIT, *rows))]
    return "\n\n".join(parts)


def limits() -> Iterator[str]:
    """Yield what is left without the smallest circuit of `number.en-de`, and the curve with means in its place."""
    model = tc.load("en-de")
    found = tc.circuit(model, "number.en-de")
    smallest = found.faithfulness(shares=SHARES, held_out=True).smallest()
    assert smallest is not None
    inside, totals = found.mask(found.strongest(smallest)), torch.zeros(3)
    for batch in found.batches:
        inputs = model.model, found.wiring
        clean, corrupted = both_passes(*inputs, batch)
        totals[0] += metric_of(clean.logits, batch.answers).sum()
        for at, edges in ((1, torch.zeros_like(inside)), (2, found.wiring.exists & ~inside)):
            logits = masked_logits(*inputs, clean.source, batch.inputs, Rest.of(corrupted), edges)
            totals[at] += metric_of(logits, batch.answers).sum()
    whole, nothing, without = totals.tolist()
    yield f"without the {smallest} edges {(without - nothing) / (whole - nothing):.1%} is left"
    curve = found.faithfulness(shares=SHARES, others="mean", held_out=True)
    yield f"with means, {curve.smallest()} edges keep 80 %"


if __name__ == "__main__":
    print("\n".join(limits()) if "--limits" in sys.argv else tables())  # noqa: T201
