"""Teacher forcing of one sentence with captured activations, and changed copies of such a run in batches.

Shape legend: S source positions, T target positions, N variants, H heads, d = d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from transformer_core.attention_maps import Kind
from transformer_core.config import ModelConfig
from transformer_core.cpu.token_log_p import token_log_p
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.hooks.hook_sites import Point
from transformer_core.hooks.points import Captured, capture, has_hooks
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer
from transformer_core.short_repr import ShortRepr
from transformer_core.text.tokenizer import EOS_TOKEN
from transformer_core.translator import SourceTooLong, Translation, Translator

_MAX_TOKENS = 2**12  # of a batch, source and target: a second of a small model on a slow processor
_MAX_VALUES = 2**26  # of the largest tensor of a batch, the logits or the inner layer of a network: 256 MiB
SUBLAYERS: dict[Kind, str] = {"encoder": "self_attention", "decoder": "self_attention", "cross": "cross_attention"}

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class TeacherForcedRun(ShortRepr):
    """One pass of a model over a sentence and its translation.

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
        captured: Values at the requested points, in float32.
        at_blanks: Whether words begin only at blanks, as in a parser.
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

    def before(self, kind: Kind, layer: int) -> Tensor:
        """Return (1, n, d), the input of an attention sub-layer; needs `residual` and `embeddings`."""
        stack = "encoder" if kind == "encoder" else "decoder"
        if kind == "cross":
            return self.residual("decoder", layer, "self_attention")
        return self.residual(stack, layer - 1, "feed_forward") if layer else self.captured[f"{stack}.embeddings"]

    def residual(self, stack: str, layer: int, sublayer: str) -> Tensor:
        """Return (1, n, d), the residual stream after a sub-layer; needs `residual`."""
        return self.captured[f"{stack}.layers.{layer}.{sublayer}_add_norm.residual"]

    def copies(self, rows: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return source, (R, S), decoder inputs, (R, T), and mask, (R, 1, 1, S), of a batch that repeats the run."""
        return self.source.expand(rows, -1), self.inputs.expand(rows, -1), self.source_mask.expand(rows, -1, -1, -1)

    def batch_size(self, config: ModelConfig) -> int:
        """Return the number of copies in one batch; see `rows_at_once`."""
        return rows_at_once(config, self.source.shape[1], self.inputs.shape[1])


@torch.no_grad()
def teacher_forced_run(
    translator: Translator, source: str, target: str | Translation | None = None, *, points: Collection[Point] = ()
) -> TeacherForcedRun:
    """Run a model over a sentence and a translation.

    Args:
        translator: The model.
        source: The sentence.
        target: A translation; None takes the model's own. A `Translation` keeps the tokens that the model generated.
            They may differ from the tokens of its text.
        points: Activations to capture.

    Raises:
        SourceTooLong: See `Translator.encode`.
        ValueError: The sentence is empty.
    """
    encoding, tokenizer = translator.encode(source), translator.tokenizer
    if not encoding.ids:
        raise ValueError("the sentence is empty")
    output = translator.translate(source) if target is None else target
    if isinstance(output, str):
        text, ids, finished = output, translator.encode_target(output).ids, True
    else:
        text, ids, finished = output.text, output.hypotheses[0].ids, output.finished
    batch = translator.forced_batch(encoding, ids, finished)
    mask = padding_mask(batch.source, tokenizer.special.pad)
    if points:
        with capture(translator.model, points) as captured:
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


def fits(translator: Translator, source: str, *targets: str) -> bool:
    """Return whether the model can read these texts: the source is not empty, and none is too long."""
    try:
        for target in targets:
            translator.encode_target(target)
        return len(translator.encode(source)) > 0
    except SourceTooLong:
        return False


@torch.no_grad()
def changed_log_p(
    translator: Translator,
    run: TeacherForcedRun,
    variants: Sequence[Item],
    changed: Callable[[Sequence[Item]], AbstractContextManager[object]],
    check: Callable[[], None] = lambda: None,
) -> Tensor:
    """Return (N, T) log-probabilities of the translation under N variants of the model, in nats.

    Args:
        translator: The model.
        run: The unchanged run.
        variants: Descriptions of the variants.
        changed: Builds the context in which each row of a batch is one of these variants.
        check: Called before every batch.
    """
    rows = [run.log_p.new_empty(0, len(run.outputs))]
    for group in batches(variants, run.batch_size(translator.config), check):
        with changed(group):
            source, inputs, mask = run.copies(len(group))
            model = translator.model
            rows.append(generated_log_p(model, model.decode(inputs, model.encode(source, mask), mask), run.outputs))
    return torch.cat(rows)


def batches(items: Sequence[Item], size: int, check: Callable[[], None]) -> Iterator[Sequence[Item]]:
    """Yield the items in batches; call `check` before each."""
    for start in range(0, len(items), size):
        check()
        yield items[start : start + size]


def stop_check(should_stop: Callable[[], bool] | None) -> Callable[[], None]:
    """Return a function that raises DecodingStopped once `should_stop` returns True."""

    def check() -> None:
        if should_stop is not None and should_stop():
            raise DecodingStopped

    return check


def rows_at_once(config: ModelConfig, source_length: int, target_length: int) -> int:
    """Return the number of rows of one batch: they fit into memory, and the batch ends soon after a stop."""
    widest = max(source_length * config.d_ff, target_length * max(config.d_ff, config.vocab_size))
    return max(1, min(_MAX_VALUES // widest, rows_in_time(source_length, target_length)))


def rows_in_time(source_length: int, target_length: int) -> int:
    """Return the number of rows that take about a second."""
    return max(1, _MAX_TOKENS // (source_length + target_length))


def generated_log_p(model: Transformer, states: Tensor, outputs: Tensor) -> Tensor:
    """Return `log_probabilities` of the logits of (B, T, d) states, without gradients or all logits in memory."""
    if has_hooks(model.decoder.logits):
        return log_probabilities(model.logits(states), outputs)
    tokens = outputs.expand(states.shape[:2])
    log_p = token_log_p(states.flatten(0, 1), model.output_weight, model.output_bias, tokens.flatten())
    return log_p.view(tokens.shape)


def log_probabilities(logits: Tensor, outputs: Tensor) -> Tensor:
    """Return the log-probabilities of given tokens in nats: (B, T, V) logits and (T,) ids -> (B, T)."""
    logits = logits.float()
    token_logits = logits.gather(2, outputs.expand(len(logits), -1)[:, :, None]).squeeze(2)
    return token_logits - logits.logsumexp(dim=2)
