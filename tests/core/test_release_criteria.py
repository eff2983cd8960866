"""Release criteria: each one alone is missed by one head too few or too many."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.core.release_criteria import unmet

# As good as it must be, and no better: 70 and 45 look, 10 rest, 24 at a fixed offset, 1 survives.
REPORT: dict[str, dict[str, Any]] = {
    "encoder": {"heads": 48, "looking": 40, "resting": 4, "fixed_offset": 10, "surviving": 0, "median_divergence": 0.2},
    "decoder": {"heads": 48, "looking": 30, "resting": 6, "fixed_offset": 10, "surviving": 0, "median_divergence": 0.2},
    "cross": {"heads": 48, "looking": 45, "resting": 30, "fixed_offset": 4, "surviving": 1, "median_divergence": 0.3},
}


def test_a_model_that_just_meets_every_criterion() -> None:
    assert unmet(REPORT, REPORT) == [] == unmet(REPORT)


@pytest.mark.parametrize(
    ("kind", "count", "value", "problem"),
    [
        ("encoder", "looking", 39, "69 of 96 encoder and decoder heads look, but 70 should"),
        ("cross", "looking", 44, "44 of 48 cross heads look, but 45 should"),
        ("decoder", "resting", 7, "11 of 96 encoder and decoder heads rest, but at most 10 should"),
        ("cross", "fixed_offset", 5, "25 of 144 heads look at a fixed offset, but at most 24 should"),
        ("cross", "surviving", 0, "0 of 144 heads survive the control, but 1 should"),
        (
            "cross",
            "median_divergence",
            0.29,
            "two cross heads of a layer differ by 0.290 nats, but at least 0.300 should",
        ),
    ],
)
def test_each_criterion_alone_is_missed_by_a_little(kind: str, count: str, value: float, problem: str) -> None:
    report = copy.deepcopy(REPORT)
    report[kind][count] = value
    assert unmet(report, REPORT) == [problem]
