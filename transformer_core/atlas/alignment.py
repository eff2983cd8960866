"""Word alignment by the heads of cross-attention, compared with the best fixed offset and random links.

Shape legend: N sentences, L layers, H heads, O offsets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from transformer_core.analysis.alignment import GoldAlignment
from transformer_core.analysis.method_alignment import BASELINE, CONVENTIONS, method_counts
from transformer_core.analysis.teacher_forced_run import fits
from transformer_core.atlas.record import Alignment, Convention, Estimate, FloatArray
from transformer_core.atlas.resumable_map import Results, ResumableMap, cut, joined
from transformer_core.atlas.statistics import Bootstrap, corrected, sign_test
from transformer_core.translator import Translator

CHUNK = 20  # sentences of an item
_OFFSETS = tuple(range(-5, 6))


def measure_alignment(runner: ResumableMap, gold: Sequence[GoldAlignment], bootstrap: Mapping[str, int]) -> Alignment:
    """Measure the alignment error rate of every encoder-decoder head, with both names of rows.

    Args:
        runner: Runs the stages.
        gold: Sentences with links made by hand.
        bootstrap: `draws` and `seed`.

    Raises:
        ValueError: No sentence can be read.
    """
    items = [msgspec.to_builtins(group, order="deterministic") for group in cut(gold, CHUNK)]
    results = runner.run(chunk_alignment, items, "pairs x 20")
    read = len(joined(results, "fixed"))
    if not read:
        raise ValueError("no sentence with links can be read")
    drawing = Bootstrap(read, **bootstrap)
    fixed, totals, chance = (joined(results, name) for name in ("fixed", "fixed_totals", "chance"))
    errors = 1 - fixed.sum(axis=0) / totals.sum(axis=0)
    best = int(errors.argmin())
    counts = {name: [joined(results, f"{name}.{part}") for part in ("hits", "totals")] for name in CONVENTIONS}
    # A head wins a sentence if its links have the smaller error rate there.
    p = {
        name: sign_test(hits / below - (fixed[:, best] / totals[:, best])[:, None, None])
        for name, (hits, below) in counts.items()
    }
    q = corrected(np.stack(list(p.values())))
    rows: dict[str, Convention] = {}
    for number, (name, (hits, below)) in enumerate(counts.items()):
        rate = drawing.ratio(hits, below)
        draws = drawing.ratios(hits, below) - drawing.ratios(fixed[:, best], totals[:, best])[:, None, None]
        rows[name] = Convention(
            error=Estimate(value=1 - rate.value, low=1 - rate.high, high=1 - rate.low),
            fixed=float(errors[best]),
            offset=_OFFSETS[best],
            uniform=float(1 - chance.sum() / totals[:, _OFFSETS.index(0)].sum()),
            gain=drawing.of(draws, rate.value - (1 - errors[best])),
            q=q[number],
        )
    return Alignment(sentences=read, skipped=len(gold) - read, rows=rows)


def chunk_alignment(translator: Translator, item: Any) -> Results:
    """Count hits and totals of some sentences, see `method_alignment.Counts`; skip sentences that are too long."""
    gold = [
        pair
        for pair in msgspec.convert(item, list[GoldAlignment])
        if pair.source and pair.target and pair.sure and fits(translator, " ".join(pair.source), " ".join(pair.target))
    ]
    shape = translator.config.num_layers, translator.config.num_heads
    arrays: dict[str, FloatArray] = {}
    counts = method_counts(translator, gold, aligners=[BASELINE]) if gold else {}
    for name in CONVENTIONS:
        of_heads = counts[name][BASELINE] if gold else None
        for part in ("hits", "totals"):
            values: FloatArray = getattr(of_heads, part).T if of_heads else np.empty((0, shape[0] * shape[1]))
            arrays[f"{name}.{part}"] = values.reshape(-1, *shape)
    fixed = np.array([[_offset_counts(pair, offset) for offset in _OFFSETS] for pair in gold]).reshape(
        len(gold), len(_OFFSETS), 2
    )
    return {
        **arrays,
        "fixed": fixed[..., 0].astype(np.float64),
        "fixed_totals": fixed[..., 1].astype(np.float64),
        "chance": np.array([(len(pair.sure) + len(pair.possible)) / len(pair.source) for pair in gold]),
    }


def _offset_counts(pair: GoldAlignment, offset: int) -> tuple[int, int]:
    """Count hits and total of links from every target word to the source word at an offset, if there is one."""
    links = {(word + offset, word) for word in range(len(pair.target)) if 0 <= word + offset < len(pair.source)}
    return len(links & pair.sure) + len(links & pair.possible), len(links) + len(pair.sure)
