"""What is to become of a foreign model: options, vocabulary, and where each weight comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer_core.config import DecodingConfig, ModelConfig
from transformer_core.conversion.foreign_folder import ConversionError, Shape
from transformer_core.text.vocab_json_tokenizer import ListedTokenizer

Change = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Origin:
    """Where a weight comes from.

    Args:
        name: Of the foreign tensor.
        change: What is done to it, such as transposing; must work on the meta device too.
    """

    name: str
    change: Change = lambda tensor: tensor

    def shape(self, of: Shape) -> Shape:
        """The shape after the change, from that before."""
        return tuple(self.change(torch.empty(of, device="meta")).shape)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A model that was recognised.

    Args:
        family: What it was taken for, in words.
        model: Its shape and options.
        decoding: Its decoding defaults.
        tokenizer: Its vocabulary.
        origins: Name of each weight -> where it comes from.
        same: Foreign tensors that repeat another one, and which.
        fixed: Foreign tensors that hold what this program computes, such as sinusoids, and their expected values.
        ignored: Foreign tensors that say nothing.
        notes: What is not carried over, in words.
    """

    family: str
    model: ModelConfig
    decoding: DecodingConfig
    tokenizer: ListedTokenizer
    origins: Mapping[str, Origin]
    same: Mapping[str, str]
    fixed: Mapping[str, Callable[[Shape], Tensor]]
    ignored: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def check_names(self, shapes: Mapping[str, Shape]) -> None:
        """Raise ConversionError naming the first foreign tensor that is missing, or left over."""
        for ours, origin in self.origins.items():
            if origin.name not in shapes:
                raise ConversionError(f"taken for {self.family}: tensor {origin.name} is missing (for {ours})")
        used = {origin.name for origin in self.origins.values()} | {*self.same, *self.fixed} | self.ignored
        for name in shapes:
            if name not in used:
                raise ConversionError(f"taken for {self.family}: tensor {name} is left over")
