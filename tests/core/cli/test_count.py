"""count: the table and the line of JSON."""

from __future__ import annotations

import json

import pytest

from tests.core.cli.workplace import Call


def test_base_and_the_papers_own_estimate(call: Call) -> None:
    said = call("count", "--preset", "base", "--length", "25")
    assert said.status == 0
    *table, last = said.out.splitlines()
    told = json.loads(last)
    assert told["parameters"] == sum(told["parameters_by_part"].values()) == 63_045_632
    assert told["paper_flops"] == pytest.approx(3.28e18, rel=1e-3)
    assert told["flops_per_run"] == told["flops_per_step"] * 100_000 == pytest.approx(9.5e17, rel=0.02)
    assert sum(told["flops_per_step_by_part"].values()) == pytest.approx(told["flops_per_step"])
    assert any(line.split()[:2] == ["total", "63,045,632"] for line in table)
    assert any(line.startswith("the paper's own estimate") and line.endswith("3.283e+18") for line in table)


def test_options_change_the_preset(call: Call) -> None:
    said = call(
        "count", "--preset", "table3-c-ff1024", "--model.vocab_size", "40960", "--model.attention_biases", "true"
    )
    told = json.loads(said.out.splitlines()[-1])
    assert told["parameters"] == 52_514_816
    assert told["paper_flops"] is None
    doubled = call("count", "--preset", "table3-c-ff1024", "--training.accumulate", "2")
    assert json.loads(doubled.out.splitlines()[-1])["batch_tokens"] == 50_000
