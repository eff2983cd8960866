"""Plan of a conversion: options, vocabulary, and the origin of each weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from transformer_core.config import DecodingConfig, ModelConfig
from transformer_core.conversion.foreign_folder import ConversionError, Shape
from transformer_core.text.vocab_json_tokenizer import ListedTokenizer

Change = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Origin:
    """Origin of a weight.

    Args:
        name: Name of the foreign tensor.
        change: Transformation, such as transposing; must work on the meta device too.
    """

    name: str
    change: Change = lambda tensor: tensor

    def shape(self, of: Shape) -> Shape:
        """Return the shape after the change."""
        return tuple(self.change(torch.empty(of, device="meta")).shape)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Plan of the conversion of a recognised model.

    Args:
        family: Recognised family.
        model: Its shape and options.
        decoding: Its decoding defaults.
        tokenizer: Its vocabulary.
        origins: Name of each weight -> its origin.
        same: Foreign tensor that repeats another one -> that one.
        fixed: Foreign tensor that holds computed values, such as sinusoids -> the expected values.
        ignored: Foreign tensors without meaning.
        notes: Differences from the original, in words.
    """

    family: str
    model: ModelConfig
    decoding: DecodingConfig
    tokenizer: ListedTokenizer
    origins: Mapping[str, Origin]
    same: Mapping[str, str] = field(default_factory=dict)
    fixed: Mapping[str, Callable[[Shape], Tensor]] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def check_names(self, shapes: Mapping[str, Shape]) -> None:
        """Raise ConversionError naming the first foreign tensor that is missing or left over."""
        for ours, origin in self.origins.items():
            if origin.name not in shapes:
                raise ConversionError(f"taken for {self.family}: tensor {origin.name} is missing (for {ours})")
        used = {origin.name for origin in self.origins.values()} | {*self.same, *self.fixed} | self.ignored
        for name in shapes:
            if name not in used:
                raise ConversionError(f"taken for {self.family}: tensor {name} is left over")
