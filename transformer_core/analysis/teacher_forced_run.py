"""One forced pass over a sentence with all that an experiment needs of it: what the experiments of the Lab start from.

Shape legend: S source positions, T target positions, H heads, d = d_model.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from transformer_core.attention_maps import Kind
from transformer_core.hooks.hook_sites import Point
from transformer_core.hooks.points import Captured, capture
from transformer_core.model.masks import padding_mask
from transformer_core.renamed import Alias
from transformer_core.text.tokenizer import EOS_TOKEN

if TYPE_CHECKING:
    from transformer_core.config import ModelConfig
    from transformer_core.translator import Translation, Translator

_MAX_TOKENS = 2**12  # of a batch, source and target: a second of a small model on a slow processor
_MAX_VALUES = 2**26  # of the largest tensor of a batch, the logits or the inner layer of a network: 256 MiB
SUBLAYERS: dict[Kind, str] = {"encoder": "self_attention", "decoder": "self_attention", "cross": "cross_attention"}


@dataclass(frozen=True, kw_only=True)
class TeacherForcedRun:
    """A sentence and its translation, as the model read them.

    Args:
        source_text: The sentence.
        text: The translation.
        source_tokens: (S,) tokens of the sentence, `</s>` included.
        tokens: (T,) tokens of the translation, `</s>` included when it is finished.
        source: (1, S) ids.
        source_mask: (1, 1, 1, S).
        inputs: (1, T) ids that the decoder reads.
        outputs: (T,) ids that it generates.
        log_p: (T,) log-probability of each of them, in nats.
        captured: The values at the points that were asked for, in float32.
        at_blanks: Whether words begin at blanks only, as those of a parser.
    """

    source_text: str
    text: str
    source_tokens: tuple[str, ...]
    tokens: tuple[str, ...]
    source: Tensor
    source_mask: Tensor
    inputs: Tensor
    outputs: Tensor
    log_p: Tensor
    captured: Captured
    at_blanks: bool = False

    source_pieces = Alias("source_tokens")
    pieces = Alias("tokens")

    def before(self, kind: Kind, layer: int) -> Tensor:
        """(1, n, d): what an attention sub-layer reads; `residual` and `embeddings` must be captured."""
        stack = "encoder" if kind == "encoder" else "decoder"
        if kind == "cross":
            return self.residual("decoder", layer, "self_attention")
        return self.residual(stack, layer - 1, "feed_forward") if layer else self.captured[f"{stack}.embeddings"]

    def residual(self, stack: str, layer: int, sublayer: str) -> Tensor:
        """(1, n, d): the residual stream after a sub-layer; `residual` must be captured."""
        return self.captured[f"{stack}.layers.{layer}.{sublayer}_add_norm.residual"]


@torch.no_grad()
def teacher_forced_run(
    translator: Translator, source: str, target: str | Translation | None = None, *, points: Collection[Point] = ()
) -> TeacherForcedRun:
    """Let the model read a sentence and a translation.

    Args:
        translator: The model.
        source: The sentence.
        target: A translation; None takes the model's own. A `Translation` is read in the tokens that it was generated
            in, which may be others than those of its text.
        points: What to capture on the way.

    Raises:
        SourceTooLong: See `Translator.encode`.
        ValueError: The sentence is empty.
    """
    encoding, tokenizer = translator.encode(source), translator.tokenizer
    if not encoding.ids:
        raise ValueError("the sentence is empty")
    given = translator.translate(source) if target is None else target
    if isinstance(given, str):
        text, ids, finished = given, translator.encode_target(given).ids, True
    else:
        text, ids, finished = given.text, given.hypotheses[0].ids, given.finished
    batch = translator.forced_batch(encoding, ids, finished)
    mask = padding_mask(batch.source, tokenizer.special.pad)
    if points:
        with capture(translator.model, points=points) as captured:
            logits = translator.model(batch.source, batch.inputs, mask)
    else:
        captured, logits = Captured(), translator.model(batch.source, batch.inputs, mask)
    return TeacherForcedRun(
        source_text=source,
        text=text,
        source_tokens=(*encoding.tokens, EOS_TOKEN),
        tokens=tokenizer.tokens(batch.outputs[0].tolist()),
        source=batch.source,
        source_mask=mask,
        inputs=batch.inputs,
        outputs=batch.outputs[0],
        log_p=log_probabilities(logits, batch.outputs[0])[0],
        captured=captured,
        at_blanks=tokenizer.closed,
    )


def rows_at_once(config: ModelConfig, source_length: int, target_length: int) -> int:
    """How many changed copies of a run one batch takes: memory has room for them, and it can be stopped soon."""
    widest = max(source_length * config.d_ff, target_length * max(config.d_ff, config.vocab_size))
    return max(1, min(_MAX_VALUES // widest, rows_in_time(source_length, target_length)))


def rows_in_time(source_length: int, target_length: int) -> int:
    """How many copies one batch takes, so that whoever stops it need not wait long."""
    return max(1, _MAX_TOKENS // (source_length + target_length))


def log_probabilities(logits: Tensor, outputs: Tensor) -> Tensor:
    """Of given tokens, in nats: (B, T, V) logits and (T,) ids -> (B, T)."""
    logits = logits.float()
    chosen = logits.gather(2, outputs.expand(len(logits), -1)[:, :, None]).squeeze(2)
    return chosen - logits.logsumexp(dim=2)
