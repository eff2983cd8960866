"""The speed of bfloat16 on this machine, and the warning when it is slow."""

from __future__ import annotations

import logging

import pytest
import torch

from transformer_core.cli.training import train
from transformer_core.config import TrainingConfig
from transformer_core.training import precision_probe


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
    monkeypatch.setattr(precision_probe, "bfloat16_time_ratio", lambda: ratio)
    with caplog.at_level(logging.WARNING):
        train._warn_if_bfloat16_is_slow(TrainingConfig.from_dict({"precision": precision}), torch.device(device))
    assert ("--training.precision float32" in caplog.text) is told
    assert ("40 times" in caplog.text) is told
