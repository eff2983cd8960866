"""How quick bfloat16 is here, and whether a training says so."""

from __future__ import annotations

import logging

import pytest
import torch

from transformer_core.cli import train
from transformer_core.config import TrainingConfig
from transformer_core.training import products


def test_the_ratio_is_of_the_two_times(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {torch.bfloat16: 6.0, torch.float32: 2.0}
    monkeypatch.setattr(products, "_seconds", lambda dtype, device: seconds[dtype])
    assert products.bfloat16_over_float32() == 3.0


def test_a_product_takes_some_time() -> None:
    assert products.bfloat16_over_float32() > 0


@pytest.mark.parametrize(
    ("ratio", "precision", "device", "told"),
    [
        (40.0, "bfloat16", "cpu", True),
        (0.5, "bfloat16", "cpu", False),
        (40.0, "float32", "cpu", False),
        (40.0, "bfloat16", "cuda", False),
    ],
)
def test_training_tells_when_float32_is_faster(
    ratio: float,
    precision: str,
    device: str,
    told: bool,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(products, "bfloat16_over_float32", lambda: ratio)
    with caplog.at_level(logging.WARNING):
        train._warn_of_slow_products(TrainingConfig.from_dict({"precision": precision}), torch.device(device))
    assert ("--training.precision float32" in caplog.text) is told
    assert ("40 times" in caplog.text) is told
