"""The learning rate of Section 5.3 by hand."""

from __future__ import annotations

import pytest

from transformer_core.config import TrainingConfig
from transformer_core.training.schedule import cooldown, learning_rate, scheduled_rate


@pytest.mark.parametrize(("d_model", "peak"), [(512, 6.99e-4), (1024, 4.94e-4)])
def test_peaks_of_base_and_big(d_model: int, peak: float) -> None:
    rates = [learning_rate(step, d_model=d_model, warmup_steps=4000) for step in range(1, 8001)]
    assert max(rates) == pytest.approx(peak, rel=1e-3)
    assert rates.index(max(rates)) + 1 == 4000


def test_rises_linearly_then_falls_with_the_root() -> None:
    def rate(step: int) -> float:
        return learning_rate(step, d_model=256, warmup_steps=100)

    assert rate(1) == pytest.approx(256**-0.5 * 100**-1.5)
    assert rate(50) == pytest.approx(50 * rate(1))
    assert rate(100) == pytest.approx(1 / 160)  # 256^-0.5 * 100^-0.5
    assert rate(400) == pytest.approx(rate(100) / 2)


@pytest.mark.parametrize("step", [0, -1])
def test_there_is_no_step_before_the_first(step: int) -> None:
    with pytest.raises(ValueError, match=f"step is {step}"):
        learning_rate(step, d_model=256, warmup_steps=100)


def test_a_cooldown_falls_in_a_straight_line_to_nothing() -> None:
    shares = [cooldown(step, steps=20, cooldown_steps=4) for step in range(1, 21)]
    assert shares[:16] == [1.0] * 16
    assert shares[16:] == pytest.approx([0.8, 0.6, 0.4, 0.2])  # and 0 after the end
    assert cooldown(21, steps=20, cooldown_steps=4) == 0.0


def test_a_training_takes_both_from_its_configuration() -> None:
    config = TrainingConfig(steps=20, warmup_steps=10, learning_rate_factor=0.5, cooldown_steps=4)
    assert scheduled_rate(10, 256, config) == pytest.approx(0.5 / 16 / 10**0.5)
    assert scheduled_rate(20, 256, config) == pytest.approx(0.5 / 16 / 20**0.5 * 0.2)
