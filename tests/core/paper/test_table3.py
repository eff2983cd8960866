"""The rows of Table 3 made smaller: against values worked out by hand, and the file of results."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.core.variation_runs import made_up
from transformer_core.config import ConfigError
from transformer_core.paper.presets import PRESETS, preset
from transformer_core.paper.table3 import (
    ROWS,
    Results,
    Spread,
    VariationsError,
    changes,
    common_training,
    reduced,
    reduced_row,
    row_training,
)

WIDTHS = ("d_model", "d_ff", "d_k", "d_v")


@pytest.mark.parametrize("row", ROWS)
def test_a_row_an_eighth_as_wide_and_half_as_deep_is_otherwise_that_of_the_table(row: str) -> None:
    """The rows themselves are compared with Table 3 in test_presets.py."""
    chosen = preset(row)
    small, training = reduced_row(row, 8, 2, 1_500).to_dict(), row_training(row, common_training(90), seed=3)
    grown = {name: 8 * small[name] for name in WIDTHS} | {"num_layers": 2 * small["num_layers"]}
    assert small | grown == chosen.model.to_dict() | {"vocab_size": 1_500}
    assert (training.label_smoothing, training.seed) == (chosen.training.label_smoothing, 3)
    assert reduced(chosen.model, 1) == chosen.model
    assert reduced(chosen.model, 1, 2) == chosen.model.replace(num_layers=chosen.model.num_layers // 2)


def test_the_rows_are_all_of_the_table() -> None:
    assert set(ROWS) == {name for name in PRESETS if name.startswith("table3-")} | {"base", "big"}
    assert (ROWS[0], ROWS[-1], len(set(ROWS))) == ("base", "big", len(ROWS))


@pytest.mark.parametrize(("by", "told"), [(0, "must be 1 or more"), (3, "must divide d_model, which is 512")])
def test_a_number_that_does_not_divide_every_width(by: int, told: str) -> None:
    with pytest.raises(ConfigError, match=f"reduce is {by}, but {told}"):
        reduced(preset("base").model, by)
    with pytest.raises(ConfigError, match="must divide d_k, which is 16"):
        reduced_row("table3-a-h32", 32)
    with pytest.raises(ConfigError, match="reduce_layers is 3, but must divide num_layers, which is 2"):
        reduced_row("table3-c-n2", 8, 3)
    with pytest.raises(ConfigError, match="row is 'F', but must be one of base, table3-a-h1"):
        reduced_row("F", 8)


def test_all_rows_are_trained_alike() -> None:
    common = common_training(90, {"warmup_steps": 7})
    assert (common.steps, common.cooldown_steps, common.warmup_steps) == (90, 30, 7)
    for row in ROWS:
        own = row_training(row, common, seed=2).to_dict()
        assert own | {"label_smoothing": 0.1, "seed": 1} == common.to_dict()


def test_what_a_row_changes_is_told_by_name() -> None:
    assert changes("base", 8, 2) == {}
    assert changes("table3-c-n4", 8, 2) == {"num_layers": 2}
    assert changes("table3-b-dk16", 8) == {"d_k": 2}
    assert changes("table3-d-smoothing0", 8) == {"label_smoothing": 0.0}
    assert changes("table3-e-learned", 8) == {"positions": "learned"}
    assert changes("big", 8) == {"d_model": 128, "d_ff": 512, "num_heads": 16, "dropout": 0.3}


def test_mean_and_spread_by_hand() -> None:
    assert Spread.from_values([2.0, 4.0, 9.0]) == Spread(5.0, math.sqrt(13), 3)  # ((3² + 1² + 4²) / 2) ** 0.5
    assert Spread.from_values([7.0]) == Spread(7.0, None, 1)


def test_results_come_back_as_they_were_in_the_order_of_the_table(tmp_path: Path) -> None:
    results = Results({"reduced_by": 8})
    for each in (made_up("big"), made_up("base", 2, bleu=13.5), made_up("base"), made_up("base", 2, bleu=14.5)):
        results = results.with_run(each)
    results.save(tmp_path / "results.json")
    assert Results.load(tmp_path / "results.json") == results
    assert [(each.row, each.seed) for each in results.runs] == [("base", 1), ("base", 2), ("big", 1)]
    assert results.spread("base", "bleu") == Spread(13.5, math.sqrt(2), 2)
    assert results.spread("table3-e-learned", "bleu") is None
    assert results.find("base", 2) == made_up("base", 2, bleu=14.5)
    assert results.find("base", 3) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda values: "{",
        lambda values: "[]",
        lambda values: json.dumps({**values, "format_version": 99}),
        lambda values: json.dumps({**values, "runs": [{"row": "base"}]}),
        lambda values: json.dumps({**values, "runs": [{**values["runs"][0], "row": "F"}]}),
        lambda values: json.dumps({**values, "runs": [{**values["runs"][0], "bleu": "<b>"}]}),
        lambda values: json.dumps({**values, "runs": None}),
    ],
)
def test_a_damaged_file_is_named(damage: Any, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    Results({"reduced_by": 8}).with_run(made_up()).save(file)
    file.write_text(damage(json.loads(file.read_text())))
    with pytest.raises(VariationsError, match=r"results\.json"):
        Results.load(file)
    with pytest.raises(VariationsError, match=r"none\.json"):
        Results.load(tmp_path / "none.json")
