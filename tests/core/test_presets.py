"""Presets against Table 3 and the parameter counts that follow from the paper's formulas."""

from __future__ import annotations

import pytest
import torch

from transformer_core.config import ConfigError, ModelConfig
from transformer_core.model import Transformer, count_parameters
from transformer_core.presets import PRESETS, preset


def counted(config: ModelConfig) -> int:
    with torch.device("meta"):  # shapes without memory
        return count_parameters(Transformer(config))


def by_formula(config: ModelConfig) -> int:
    """Attention 4 matrices per head, feed-forward, LayerNorms, and the one shared matrix; no attention biases."""
    d, ff, heads = config.d_model, config.d_ff, config.num_heads
    attention = heads * (2 * config.d_k + config.d_v) * d + heads * config.d_v * d
    feed_forward = 2 * d * ff + ff + d
    encoder = attention + feed_forward + 2 * 2 * d
    decoder = 2 * attention + feed_forward + 3 * 2 * d
    return config.num_layers * (encoder + decoder) + config.vocab_size * d


# With V = 37,000 and no biases in attention; worked out by hand from Table 3.
@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("base", {}, 63_045_632),
        ("base", {"num_heads": 1}, 63_045_632),
        ("base", {"num_heads": 32}, 63_045_632),
        ("base", {"d_k": 16}, 55_967_744),
        ("base", {"d_k": 32}, 58_327_040),
        ("base", {"num_layers": 2}, 33_644_544),
        ("base", {"num_layers": 8}, 77_746_176),
        ("base", {"d_model": 256, "d_k": 32, "d_v": 32}, 26_816_512),
        ("base", {"d_model": 1024, "d_k": 128, "d_v": 128}, 163_815_424),
        ("base", {"d_ff": 1024}, 50_450_432),
        ("base", {"d_ff": 4096}, 88_236_032),
        ("big", {}, 214_171_648),
    ],
)
def test_parameters_of_table_3(name: str, changes: dict[str, int], expected: int) -> None:
    values = preset(name).model.to_dict() | {"d_k": 0, "d_v": 0} | changes
    config = ModelConfig.from_dict(values)
    assert counted(config) == expected == by_formula(config)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_builds_the_model_that_it_describes(name: str) -> None:
    config = preset(name).model
    assert counted(config) == by_formula(config)
    assert preset(name).about


def test_base_is_section_5_and_6() -> None:
    model, training = preset("base").model, preset("base").training
    assert (model.num_layers, model.d_model, model.d_ff, model.num_heads) == (6, 512, 2048, 8)
    assert (model.d_k, model.d_v, model.dropout) == (64, 64, 0.1)
    assert (training.steps, training.warmup_steps, training.label_smoothing) == (100_000, 4_000, 0.1)
    assert (training.batch_tokens, training.learning_rate_factor, training.keep_checkpoints) == (25_000, 1.0, 5)
    assert (training.beta1, training.beta2, training.adam_epsilon) == (0.9, 0.98, 1e-9)


def test_big_is_the_last_row_of_table_3() -> None:
    model, training = preset("big").model, preset("big").training
    assert (model.num_layers, model.d_model, model.d_ff, model.num_heads) == (6, 1024, 4096, 16)
    assert (model.d_k, model.d_v, model.dropout) == (64, 64, 0.3)
    assert (training.steps, training.keep_checkpoints) == (300_000, 20)


def test_the_shipped_shape_keeps_the_papers_layers_and_heads_and_fits() -> None:
    model = preset("en-de").model
    assert (model.num_layers, model.num_heads) == (preset("base").model.num_layers, preset("base").model.num_heads)
    assert counted(model) * 2 < 60_000_000  # bytes in float16


def test_an_unknown_preset_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"preset is 'huge', but must be one of base, big, en-de, tiny"):
        preset("huge")
