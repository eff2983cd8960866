"""Options validate themselves, name what is wrong, and survive JSON."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from transformer_core.attention_variants import VARIANTS
from transformer_core.config import ConfigError, DecodingConfig, ModelConfig, SpecialIds, TrainingConfig

Config = ModelConfig | TrainingConfig | DecodingConfig | SpecialIds


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig(d_k=16),
        TrainingConfig(seed=7),
        DecodingConfig(beam=2),
        DecodingConfig(constrained=True),
        SpecialIds(pad=9),
    ],
)
def test_every_config_survives_json(config: Config) -> None:
    assert type(config).from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_an_unknown_key_is_named_with_those_that_exist() -> None:
    with pytest.raises(ConfigError, match="no option d_modle; it has vocab_size, d_model"):
        ModelConfig.from_dict({"d_modle": 512})


@pytest.mark.parametrize(
    ("kind", "values", "said"),
    [
        (ModelConfig, {"d_model": 0}, "d_model is 0, but must be between 1 and 100,000"),
        (ModelConfig, {"d_model": 7, "num_heads": 7}, "d_model is 7, but must be even"),
        (ModelConfig, {"num_layers": -1}, "num_layers is -1"),
        (ModelConfig, {"num_heads": 3}, r"num_heads is 3, but must be a divisor of d_model \(512\)"),
        (ModelConfig, {"d_k": -1}, "d_k is -1"),
        (ModelConfig, {"dropout": 1.0}, "dropout is 1.0, but must be at least 0 and below 1"),
        (ModelConfig, {"dropout": math.nan}, "dropout is nan"),
        (ModelConfig, {"layer_norm_epsilon": 0.0}, "layer_norm_epsilon is 0.0, but must be positive"),
        (ModelConfig, {"d_model": "512"}, "d_model is '512', but must be a whole number"),
        (ModelConfig, {"dropout": "0.1"}, "dropout is '0.1', but must be a number"),
        (ModelConfig, {"num_layers": 1.5}, "num_layers is 1.5, but must be a whole number"),
        (ModelConfig, {"num_layers": None}, "num_layers is None, but must be a whole number"),
        (ModelConfig, {"num_layers": {}}, "num_layers is {}, but must be a whole number"),
        (ModelConfig, {"vocab_size": 160.0}, "vocab_size is 160.0, but must be a whole number"),
        (ModelConfig, {"num_heads": True}, "num_heads is True, but must be a whole number"),
        (ModelConfig, {"d_k": 2.5}, "d_k is 2.5"),
        (ModelConfig, {"norm": "none"}, "norm is 'none', but must be post or pre"),
        (ModelConfig, {"activation": "tanh"}, "activation is 'tanh', but must be relu, gelu or swish"),
        (
            ModelConfig,
            {"positions": "rotary"},
            "positions is 'rotary', but must be sinusoidal, concatenated, tensor2tensor, learned or none",
        ),
        (ModelConfig, {"max_positions": 0}, "max_positions is 0"),
        (ModelConfig, {"tie": True}, "tie is True, but must be all, target or none"),
        (ModelConfig, {"attention_biases": 1}, "attention_biases is 1, but must be true or false"),
        (ModelConfig, {"output_bias": "yes"}, "output_bias is 'yes'"),
        (ModelConfig, {"attention": "linear"}, f"attention is 'linear', but must be {', '.join(VARIANTS)}, or one"),
        (ModelConfig, {"window": -1}, "window is -1, but must be 0"),
        (ModelConfig, {"attention_dropout": 1.0}, "attention_dropout is 1.0"),
        (ModelConfig, {"activation_dropout": -0.1}, "activation_dropout is -0.1"),
        (TrainingConfig, {"batch_tokens": 0}, "batch_tokens is 0"),
        (TrainingConfig, {"accumulate": 0}, "accumulate is 0"),
        (TrainingConfig, {"steps": 10.5}, "steps is 10.5, but must be a whole number"),
        (TrainingConfig, {"keep_checkpoints": 0}, "keep_checkpoints is 0"),
        (TrainingConfig, {"checkpoint_minutes": -1.0}, "checkpoint_minutes is -1.0"),
        (TrainingConfig, {"learning_rate_factor": 0.0}, "learning_rate_factor is 0.0, but must be positive"),
        (TrainingConfig, {"beta2": 1.0}, "beta2 is 1.0"),
        (TrainingConfig, {"label_smoothing": -0.1}, "label_smoothing is -0.1"),
        (TrainingConfig, {"precision": "float16"}, "precision is 'float16', but must be float32 or bfloat16"),
        (TrainingConfig, {"smoothing": "all"}, "smoothing is 'all', but must be others or uniform"),
        (TrainingConfig, {"checkpoint_every": 0, "checkpoint_minutes": 0.0}, "nothing would be saved"),
        (TrainingConfig, {"cooldown_steps": -1}, "cooldown_steps is -1"),
        (
            TrainingConfig,
            {"steps": 10, "cooldown_steps": 11},
            r"cooldown_steps is 11, but must be at most steps \(10\)",
        ),
        (DecodingConfig, {"beam": 0}, "beam is 0"),
        (DecodingConfig, {"beam": 2.0}, "beam is 2.0"),
        (DecodingConfig, {"alpha": -0.1}, "alpha is -0.1"),
        (DecodingConfig, {"extra_length": 0}, "extra_length is 0"),
        (DecodingConfig, {"extra_length": 2, "constrained": True}, "extra_length is 2, but must be 3 or more"),
        (DecodingConfig, {"alternatives": -1}, "alternatives is -1"),
        (DecodingConfig, {"min_length": -1}, "min_length is -1"),
        (DecodingConfig, {"length_penalty": "wu"}, "length_penalty is 'wu', but must be gnmt or power"),
        (SpecialIds, {"pad": 2}, "special ids is .2, 1, 2, 3., but must be different numbers"),
        (SpecialIds, {"unk": -1}, "special ids is .* but must be different numbers"),
        (SpecialIds, {"bos": 3}, "special ids is .* but must be different numbers"),
        (SpecialIds, {"forced_bos": 2}, "forced_bos is 2, but must be -1 or a token other than pad, eos and unk"),
        (ModelConfig, {"positions": "none", "first_position": 2}, "first_position is 2, but must be 0 without"),
    ],
)
def test_unusable_options(kind: type[Config], values: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        kind.from_dict(values)


def test_widths_of_a_head_follow_the_model_unless_given() -> None:
    config = ModelConfig(d_model=96, num_heads=4)
    assert (config.d_k, config.d_v) == (24, 24)
    odd = ModelConfig(d_model=96, num_heads=5, d_k=7, d_v=11)
    assert (odd.d_k, odd.d_v) == (7, 11)
    with pytest.raises(ConfigError, match="while d_v is not given"):
        ModelConfig(d_model=96, num_heads=5, d_k=7)


def test_the_first_format_of_a_models_options_means_the_same_today() -> None:
    """A checkpoint's config.json of before the further options."""
    told = {"vocab_size": 8000, "d_model": 128, "d_ff": 512, "num_layers": 6, "num_heads": 8, "d_k": 16, "d_v": 16}
    config = ModelConfig.from_dict({**told, "dropout": 0.0, "layer_norm_epsilon": 1e-6})
    assert (config.norm, config.activation, config.positions, config.tie) == ("post", "relu", "sinusoidal", "all")
    assert not (config.attention_biases or config.output_bias or config.attention_dropout or config.activation_dropout)
    assert config.max_length is None
    assert config.replace(positions="learned", max_positions=77).max_length == 77


def test_replace_validates_again() -> None:
    assert ModelConfig().replace(dropout=0.3).dropout == 0.3
    with pytest.raises(ConfigError, match="dropout"):
        ModelConfig().replace(dropout=2.0)


def test_configs_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ModelConfig().d_model = 3  # type: ignore[misc]


def test_no_beginning_is_no_entry() -> None:
    assert SpecialIds(forced_bos=7).to_dict()["forced_bos"] == 7 and "forced_bos" not in SpecialIds().to_dict()
