"""Circuits of a model on the tasks that ship: integrated edge attributions, and what the strongest edges keep."""

from __future__ import annotations

from collections.abc import Callable

from transformer_core.analysis.circuit import circuit, shipped_tasks
from transformer_core.analysis.minimal_pairs import MIN_DIFFERENCE
from transformer_core.atlas.record import CircuitCurve, Estimate, TaskCircuit
from transformer_core.progress import expect
from transformer_core.translator import Translator

SHARES = (0.0005, 0.001, 0.0015, 0.002, 0.003, 0.004, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5)
MIN_EDGES, MAX_EDGES = 200, 3_000  # recorded ones
_RANDOM_ORDERS = 3
_DIGITS = 4  # after the point


def tasks_of(translator: Translator) -> tuple[str, ...]:
    """Return the tasks in the languages of a model, such as `number.en-de`."""
    languages = translator.metrics.get("languages") or {}
    pair = f"{languages.get('source')}-{languages.get('target')}"
    return tuple(name for name in shipped_tasks() if name.endswith(f".{pair}"))


def measure_circuit(translator: Translator, task: str, should_stop: Callable[[], bool] | None = None) -> TaskCircuit:
    """Measure the circuit of a task, how faithful it is on held-out pairs, and how alike both halves are.

    Args:
        translator: The model, without active edits.
        task: Name of a task that ships, such as `number.en-de`.
        should_stop: Called before every batch; shows progress if it has `expect`.

    Raises:
        PatchingError: No pair is left.
        DataError: There is no task of this name.
        DecodingStopped: `should_stop` returned True.
    """
    found = circuit(translator, task, should_stop=should_stop)
    (clean, corrupted), (low, high) = found.metrics.mean(dim=0).tolist(), found.interval(found.nodes).numpy()
    curve, overlap, strongest = None, None, list[int]()
    if abs(found.difference) >= MIN_DIFFERENCE:
        expect(should_stop, len(found.batches) * (1 + (1 + _RANDOM_ORDERS) * len(SHARES)))
        kept = found.faithfulness(shares=SHARES, held_out=True, random_orders=_RANDOM_ORDERS, should_stop=should_stop)
        curve = CircuitCurve(
            pairs=kept.pairs,
            edges=kept.edges,
            kept=kept.kept.numpy(),
            random=kept.random.numpy(),
            cpr=round(kept.cpr, _DIGITS),
            cmd=round(kept.cmd, _DIGITS),
        )
        overlap = round(found.split_half(), _DIGITS)
        strongest = found.strongest(min(max(MIN_EDGES, kept.smallest() or 0), MAX_EDGES)).tolist()
    mean, places = found.edges.mean(dim=0).tolist(), found.wiring.exists.nonzero().tolist()
    return TaskCircuit(
        pairs=len(found.pairs),
        groups=int(found.groups.max()) + 1,
        skipped=dict(found.skipped),
        right=round(float(((found.metrics[:, 0] > 0) & (found.metrics[:, 1] < 0)).double().mean()), _DIGITS),
        clean=round(clean, _DIGITS),
        corrupted=round(corrupted, _DIGITS),
        scores=Estimate(value=found.nodes.mean(dim=0).numpy(), low=low, high=high),
        null_limits=found.null_limits.numpy(),
        edges=tuple((*places[at], round(mean[at], _DIGITS)) for at in strongest),
        curve=curve,
        overlap=overlap,
    )
