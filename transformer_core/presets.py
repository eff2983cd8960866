"""Named configurations: the paper's base and big (Table 3), the shipped English-German shape, a tiny one for tests."""

from __future__ import annotations

from dataclasses import dataclass

from transformer_core.config import ConfigError, ModelConfig, TrainingConfig


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A model and how it is trained.

    Args:
        about: One line for people who choose.
        model: Shape of the model.
        training: How it is trained.
    """

    about: str
    model: ModelConfig
    training: TrainingConfig


PRESETS: dict[str, Preset] = {
    "base": Preset(
        about="the paper's base model, Table 3",
        model=ModelConfig(),
        training=TrainingConfig(),
    ),
    "big": Preset(
        about="the paper's big model, Table 3",
        model=ModelConfig(d_model=1024, d_ff=4096, num_heads=16, dropout=0.3),
        # Section 6.1 trains it for 300,000 steps and averages the last 20 checkpoints.
        training=TrainingConfig(steps=300_000, keep_checkpoints=20),
    ),
    "en-de": Preset(
        about="the paper's 6 + 6 layers and 8 heads, narrower; small enough for a laptop",
        # Few passes over the text on a CPU leave so small a model nothing to overfit, so there is no dropout.
        model=ModelConfig(vocab_size=8_000, d_model=128, d_ff=512, dropout=0.0),
        # Factor 1 would give a peak rate of 2.8e-3, far above the 7e-4 of the paper's base; 0.36 gives 1e-3.
        training=TrainingConfig(
            batch_tokens=2_048,
            learning_rate_factor=0.36,
            warmup_steps=1_000,
            max_pieces=128,
            validate_every=2_000,
            checkpoint_every=0,
            checkpoint_minutes=6.0,
            keep_checkpoints=8,
        ),
    ),
    "tiny": Preset(
        about="learns nothing useful, in seconds; to try a command out",
        model=ModelConfig(vocab_size=160, d_model=32, d_ff=64, num_layers=2, num_heads=4),
        training=TrainingConfig(
            batch_tokens=512,
            steps=40,
            warmup_steps=20,
            precision="float32",
            log_every=10,
            validate_every=20,
            validation_sentences=8,
            checkpoint_every=10,
            checkpoint_minutes=0.0,
            plateau_steps=0,
        ),
    ),
}


def preset(name: str) -> Preset:
    """Look a preset up by name. Raises ConfigError naming those that exist."""
    if name not in PRESETS:
        raise ConfigError(f"preset is {name!r}, but must be one of {', '.join(PRESETS)}")
    return PRESETS[name]
