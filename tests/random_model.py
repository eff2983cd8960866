"""Checkpoints with random weights: quick to make and to run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer_core.text.tokenizer import Tokenizer


def save_random_model(
    folder: Path,
    *,
    seed: int,
    tokenizer: Tokenizer | None = None,
    sentences: Iterable[str] = (),
    vocab_size: int = 120,
    layers: int = 2,
    heads: int = 4,
    d_model: int = 16,
    d_ff: int = 32,
    extra_length: int = 12,
    sharpness: float = 1.0,
    **parts: Any,
) -> Path:
    """Save a model of this shape with a vocabulary of its own.

    Args:
        folder: Where it goes.
        seed: Of its weights.
        tokenizer: Its vocabulary, where it exists already.
        sentences: What its vocabulary is trained on; by default the examples of the app.
        vocab_size: Tokens of its vocabulary.
        layers: In the encoder, and as many in the decoder.
        heads: In each layer.
        d_model: Its width.
        d_ff: Its inner width.
        extra_length: Tokens that it may generate beyond the source; random weights write up to the limit.
        sharpness: By which its matrices are multiplied.
        parts: What `save_checkpoint` takes besides, such as metrics and card.
    """
    import torch

    from transformer_core.checkpoint import save_checkpoint
    from transformer_core.config import DecodingConfig, ModelConfig
    from transformer_core.model.transformer import Transformer
    from transformer_core.text.tokenizer import Tokenizer as Vocabulary
    from viz_app.text.examples import EXAMPLES

    if tokenizer is None:
        tokenizer = Vocabulary.train(list(sentences) or list(EXAMPLES.values()), vocab_size=vocab_size, threads=1)
    config = ModelConfig(vocab_size=len(tokenizer), d_model=d_model, d_ff=d_ff, num_layers=layers, num_heads=heads)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        weights = Transformer(config).state_dict()
    weights = {name: sharpness * weight if weight.dim() > 1 else weight for name, weight in weights.items()}
    save_checkpoint(folder, weights, config, tokenizer, decoding=DecodingConfig(extra_length=extra_length), **parts)
    return folder
