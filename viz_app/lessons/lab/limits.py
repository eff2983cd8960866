"""Limits of a bench: tokens of a sentence, and operations of a model.

Work is counted before it begins, in passes of a model over the sentence and its translation. A computation that takes
too long in spite of that ends at its deadline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from transformer_core.attention_maps import Kind
from transformer_core.config import ModelConfig
from transformer_core.paper.flops import Work, multiply_adds_by_part

if TYPE_CHECKING:
    from viz_app.lessons.context import LessonContext

MAX_TOKENS = 80  # with </s>: every bench runs the model many times
MAX_FLOPS = 1e13  # of one computation: two minutes of one core, half a minute of four
MAX_FLOPS_OF_ALL_HEADS = 2e12  # from which on heads are measured by layer, as visitors ask for them: half a minute


class TooMuchWork(Exception):
    """More work than a bench does.

    Args:
        times: Work over the limit.
    """

    def __init__(self, times: float) -> None:
        super().__init__(f"{times:.1f} times as much work as a bench of the Lab does at most")
        self.times = max(1.1, round(times, 1))


@dataclass(frozen=True)
class PassFlops:
    """FLOPs of one pass over a sentence and its translation.

    Args:
        encoder: Of the encoder.
        decoder: Of the decoder, with the output projection.
        layers: Of each of the two.
        source_length: Tokens that the encoder reads.
        target_length: Tokens that the decoder generates.
    """

    encoder: float
    decoder: float
    layers: int
    source_length: int
    target_length: int

    @classmethod
    def from_lengths(cls, config: ModelConfig, source_length: int, target_length: int) -> PassFlops:
        """Count a pass over `source_length` and `target_length` tokens, `</s>` included."""
        work = Work(sentences=1, source_length=source_length, target_length=target_length)
        parts = multiply_adds_by_part(config, work)
        encoder = sum(value for name, value in parts.items() if name.startswith("encoder "))
        decoder = sum(parts.values()) - encoder
        return cls(2 * encoder, 2 * decoder, config.num_layers, source_length, target_length)

    @property
    def whole(self) -> float:
        """FLOPs of both stacks."""
        return self.encoder + self.decoder

    def from_layer(self, kind: Kind, layer: int) -> float:
        """Count a pass that begins at a layer, since everything before it is known."""
        share = (self.layers - layer) / self.layers
        return share * self.encoder + self.decoder if kind == "encoder" else share * self.decoder


def pass_flops(context: LessonContext) -> PassFlops:
    """Count a pass over the visitor's sentence and its translation, which is made for that."""
    translation = context.result.translation
    length = len(translation.hypotheses[0].ids) + translation.finished
    return PassFlops.from_lengths(context.service.translator.config, len(context.tokens), max(1, length))


def check_work(flops: float) -> None:
    """Raise TooMuchWork for more than a bench does at most."""
    if flops > MAX_FLOPS:
        raise TooMuchWork(flops / MAX_FLOPS)
