"""A checkpoint with the shape of the shipped models, and a history of its heads: random weights, real attention."""

from __future__ import annotations

from pathlib import Path


def large_checkpoint(folder: Path) -> Path:
    """6 + 6 layers of 8 heads, at two moments of a training that never was; writes and returns the folder."""
    import torch

    from transformer_core.analysis.looking_back import LookingBack, Question
    from transformer_core.checkpoint import save_checkpoint, write_manifest
    from transformer_core.config import DecodingConfig, ModelConfig
    from transformer_core.model import Transformer
    from transformer_core.tokenizer import Tokenizer
    from transformer_core.training.moments import keep_moment, moments_of
    from viz_app.services.examples import EXAMPLES

    sentences = list(EXAMPLES.values())
    tokenizer = Tokenizer.train(sentences, vocab_size=120, threads=1)
    config = ModelConfig(vocab_size=len(tokenizer), d_model=32, d_ff=32, num_layers=6, num_heads=8)
    decoding = DecodingConfig(extra_length=2)
    with torch.random.fork_rng():
        torch.manual_seed(3)
        moments = [Transformer(config).state_dict() for _ in range(2)]
    save_checkpoint(folder, moments[-1], config, tokenizer, decoding=decoding)
    run = folder.parent / "run"
    for step, weights in zip((0, 1000), moments, strict=True):
        keep_moment(run, step, weights)
    looking = LookingBack(moments_of(run), config, tokenizer, decoding)
    columns = ("loss", "nll", "mean_nll", "learning_rate", "gradient_norm")
    course = {"step": [1, 1000], **{name: [4.0, 2.0] for name in columns}}
    looking.history([Question(text) for text in sentences[:2]], facts={}, course=course).save(folder / "history")
    write_manifest(folder)
    return folder
