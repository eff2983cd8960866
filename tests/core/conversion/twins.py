"""Published translators in small: random weights and vocabularies of our own, saved by transformers itself."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch

from tests.core.tiny import sentence_pairs
from tests.hostile import ODD
from transformer_core.conversion import ConversionError, convert
from transformer_core.storage.files import CheckpointError
from transformer_core.translator import Translator

SHAPE: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 128,
    "dropout": 0.0,
}
SOURCES = [source for source, _ in sentence_pairs()]
TARGETS = [target for _, target in sentence_pairs()]


@dataclass(frozen=True)
class Twin:
    """A model folder with what transformers makes of it.

    Args:
        folder: As transformers saves it.
        model: With weights that float16 can hold exactly.
        tokenizer: Its tokenizer.
        generate: Options of its search.
        converted: Our checkpoint.
    """

    folder: Path
    model: Any
    tokenizer: Any
    generate: dict[str, Any]
    converted: Translator


def tokens_model(texts: Iterable[str], size: int, kind: str = "unigram", **options: Any) -> bytes:
    """A SentencePiece model with the special tokens that such models have: `<unk>`, `<s>`, `</s>`."""
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=writer,
        vocab_size=size,
        model_type=kind,
        hard_vocab_limit=False,
        num_threads=1,
        minloglevel=2,
        **options,
    )
    return writer.getvalue()


def names(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(number) for number in range(len(processor))]


@torch.no_grad()
def drawn(model: Any, seed: int, *, ending: float) -> Any:
    """Weights that differ from one another, norms and biases too, rounded to float16; and it likes to end.

    Args:
        model: Of transformers.
        seed: Draws the weights.
        ending: How much larger the logit of `</s>` is than others.
    """
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if "embed_positions" in name and not parameter.requires_grad:
            continue
        mean = 1.0 if "norm" in name and name.endswith("weight") else 0.0
        width = 0.2 if parameter.dim() == 1 else parameter.shape[-1] ** -0.5
        width *= 2.0 if "encoder_attn." in name else 1.0  # so that the translation depends on the source
        parameter.copy_(mean + width * torch.randn(parameter.shape, generator=generator))
    matrix, end = model.get_output_embeddings().weight, model.config.eos_token_id
    decoder = model.get_decoder()
    final = getattr(decoder, "layer_norm", decoder.layers[-1].final_layer_norm)
    final.bias.add_(matrix[end] * ending / matrix[end].square().sum())
    if hasattr(model, "final_logits_bias") and model.config.model_type == "marian":
        model.final_logits_bias.copy_(0.2 * torch.randn(model.final_logits_bias.shape, generator=generator))
        model.final_logits_bias.copy_(model.final_logits_bias.half().float())
    for name, parameter in model.named_parameters():
        if "embed_positions" not in name or parameter.requires_grad:
            parameter.copy_(parameter.half().float())
    model.set_attn_implementation("eager")  # the only one that returns weights
    return model.eval()


def refused(folder: Path, said: str) -> None:
    """The conversion ends with one line that says so, and leaves the place as it was."""
    out = folder.parent / "ours"
    before = sorted(folder.parent.rglob("*"))
    with pytest.raises((ConversionError, CheckpointError), match=said) as raised:
        convert(folder, out)
    assert "\n" not in str(raised.value)
    assert sorted(folder.parent.rglob("*")) == before


def write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


_ALPHABET = "abcdefgst mnowTMA  .,'!?-<>/_0123äöüßé한국日🙂\u00a0\u200b▁"


def hostile_strings(count: int = 500) -> list[str]:
    """Strings that try to break a tokenizer, drawn and chosen, words of the vocabulary among them."""
    chance = random.Random(7)
    words = sorted({word for text in (*SOURCES, *TARGETS) for word in text.split()})
    entries = list(ODD)
    while len(entries) < count:
        parts = [
            chance.choice(words)
            if chance.random() < 0.5
            else "".join(chance.choices(_ALPHABET, k=chance.randint(1, 8)))
            for _ in range(chance.randint(1, 7))
        ]
        entries.append(chance.choice(("", " ", "  ")).join(parts))
    return entries


def sources(count: int, seed: int = 3) -> list[str]:
    """Sentences of many lengths, from the words of the vocabulary."""
    chance = random.Random(seed)
    words = sorted({word for text in SOURCES for word in text.split()})
    return [" ".join(chance.choices(words, k=chance.randint(1, 9))) for _ in range(count)]
