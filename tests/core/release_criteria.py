"""Release criteria for the heads of a translator with 6 + 6 layers of 8 heads.

Stricter than the warnings of `head_scores.shortcomings`: heads that all look at the word before, that all look alike,
or that look and do no more than noise do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MIN_LOOKING_SELF = 70  # of 96 heads of the encoder and the decoder
MIN_LOOKING_CROSS = 45  # of 48
MAX_RESTING_SELF = 10  # of 96
MAX_AT_FIXED_OFFSET = 24  # of all 144
MIN_SURVIVING = 1  # of all 144: their control, see controls.py; so few sentences find few heads

Report = Mapping[str, Mapping[str, Any]]
_SELF, _ALL = ("encoder", "decoder"), ("encoder", "decoder", "cross")


def unmet(report: Report, other: Report | None = None) -> list[str]:
    """List the criteria that a model does not meet.

    Args:
        report: `heads` of a checkpoint's metrics, as measured by `derived --only heads`.
        other: Report of a model whose heads must not differ more within a layer, by kind of attention.
    """
    counts: dict[str, tuple[tuple[str, ...], str, int | None, int | None]] = {
        "encoder and decoder heads look": (_SELF, "looking", MIN_LOOKING_SELF, None),
        "cross heads look": (("cross",), "looking", MIN_LOOKING_CROSS, None),
        "encoder and decoder heads rest": (_SELF, "resting", None, MAX_RESTING_SELF),
        "heads look at a fixed offset": (_ALL, "fixed_offset", None, MAX_AT_FIXED_OFFSET),
        "heads survive the control": (_ALL, "surviving", MIN_SURVIVING, None),
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
