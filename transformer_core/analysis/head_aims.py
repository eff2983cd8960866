"""What the heads of a translator in the paper's shape should have before it ships: 6 + 6 layers with 8 heads each.

Stricter than `head_scores.shortcomings`, which warns: it also keeps the counts from being won by heads that all look at
the word before, that all look alike, or that look and change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MIN_LOOKING_SELF = 70  # of 96 heads of the encoder and the decoder
MIN_LOOKING_CROSS = 45  # of 48
MAX_RESTING_SELF = 10  # of 96
MAX_AT_FIXED_OFFSET = 24  # of all 144
MIN_CHANGING = 40  # of all 144: the log-probability of given translations, see effect_counts.py

Report = Mapping[str, Mapping[str, Any]]
_SELF, _ALL = ("encoder", "decoder"), ("encoder", "decoder", "cross")


def unmet_criteria(report: Report, other: Report | None = None) -> list[str]:
    """Which of the aims the heads of a model miss; empty when they reach all.

    Args:
        report: `heads` of the metrics of a checkpoint, as `derived --only heads` measures them.
        other: The same of a model whose heads should not differ more within a layer, by kind of attention.
    """
    counts = {
        "encoder and decoder heads look": (_SELF, "looking", MIN_LOOKING_SELF, None),
        "cross heads look": (("cross",), "looking", MIN_LOOKING_CROSS, None),
        "encoder and decoder heads rest": (_SELF, "resting", None, MAX_RESTING_SELF),
        "heads look at a fixed offset": (_ALL, "fixed_offset", None, MAX_AT_FIXED_OFFSET),
        "heads change the log-probability": (_ALL, "changing", MIN_CHANGING, None),
    }
    found = []
    for name, (kinds, count, least, most) in counts.items():
        value, heads = (sum(report[kind][key] for kind in kinds) for key in (count, "heads"))
        if least is not None and value < least:
            found.append(f"{value} of {heads} {name}, but {least} should")
        if most is not None and value > most:
            found.append(f"{value} of {heads} {name}, but at most {most} should")
    if other is not None:
        for kind in _ALL:
            own, reached = (each[kind]["median_divergence"] for each in (report, other))
            if own < reached:
                found.append(f"two {kind} heads of a layer differ by {own:.3f} nats, but at least {reached:.3f} should")
    return found
