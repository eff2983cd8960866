"""Small models and made-up sentences for the tests of the core; nothing is read from outside."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from transformer_core import Transformer, hook_points
from transformer_core.config import ModelConfig, SpecialIds
from transformer_core.model.masks import padding_mask

SPECIAL = SpecialIds()

Module = TypeVar("Module", bound=nn.Module)

_SUBJECTS = (
    ("The man", "Der Mann"),
    ("The woman", "Die Frau"),
    ("A child", "Ein Kind"),
    ("My friend", "Mein Freund"),
    ("The teacher", "Der Lehrer"),
    ("Our neighbour", "Unser Nachbar"),
)
_VERBS = (("sees", "sieht"), ("buys", "kauft"), ("paints", "malt"), ("finds", "findet"), ("doesn't like", "mag nicht"))
_OBJECTS = (
    ("a house", "ein Haus"),
    ("the big dog", "den großen Hund"),
    ("two well-known books", "zwei bekannte Bücher"),
    ("an old bicycle", "ein altes Fahrrad"),
    ("the green door", "die grüne Tür"),
    ("a cup of tea", "eine Tasse Tee"),
)
_ENDINGS = ((".", "."), (" today.", " heute."))


def sentence_pairs() -> list[tuple[str, str]]:
    """360 English sentences with their German translations, all different."""
    return [
        (f"{s[0]} {v[0]} {o[0]}{e[0]}", f"{s[1]} {v[1]} {o[1]}{e[1]}")
        for s, v, o, e in product(_SUBJECTS, _VERBS, _OBJECTS, _ENDINGS)
    ]


def tiny_config(**options: Any) -> ModelConfig:
    """Two layers of four heads, with d_k, d_v and d_model / num_heads all different."""
    base = ModelConfig(vocab_size=40, d_model=16, d_ff=24, num_layers=2, num_heads=4, d_k=3, d_v=5, dropout=0.0)
    return base.replace(**options)


def tiny_model(seed: int = 1, **options: Any) -> Transformer:
    """A tiny model with drawn weights, in evaluation mode."""
    torch.manual_seed(seed)
    return Transformer(tiny_config(**options)).eval()


@torch.no_grad()
def drawn_biases_and_norms(module: Module) -> Module:
    """Biases that are not 0 and norms that are not 1, or a forgotten one would not show."""
    for name, parameter in module.named_parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, 1.0 if name.endswith("norm.weight") else 0.0, 0.2)
    return module


def padded(lengths: Sequence[int], vocab_size: int = 40, seed: int = 0) -> Tensor:
    """(B, longest) drawn ids without special tokens, each row padded after its length."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(4, vocab_size, (len(lengths), max(lengths)), generator=generator)
    for row, length in zip(ids, lengths, strict=True):
        row[length:] = SPECIAL.pad
    return ids


def inputs_for(source_lengths: Sequence[int], target_length: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Source ids, target ids and source mask, as Transformer.forward takes them."""
    source = padded(source_lengths, seed=seed)
    target = padded([target_length] * len(source_lengths), seed=seed + 1)
    return source, target, padding_mask(source, SPECIAL.pad)


def run(model: Transformer, lengths: Sequence[int] = (5, 3), target_length: int = 4) -> Tensor:
    """Logits of one pass over drawn sentences, without gradients."""
    with torch.no_grad():
        out: Tensor = model(*inputs_for(lengths, target_length))
    return out


def nobody_listens(model: Transformer) -> bool:
    """Whether no hook point of the model listens."""
    return not any(point.is_active for point in hook_points(model).values())
