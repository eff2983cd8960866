"""Logit lens of the decoder's layers, and DecoderLens of the encoder's layers.

Shape legend: L layers, S source positions, T target positions, K listed tokens, V = vocab_size, d = d_model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, stop_check, teacher_forced_run
from transformer_core.hooks.hook_sites import Point, Site
from transformer_core.hooks.points import edit
from transformer_core.short_repr import ShortRepr
from transformer_core.translator import Translation, Translator

LISTED = 5
_POINTS: tuple[Point, ...] = ("residual", "embeddings")


@dataclass(frozen=True, kw_only=True)
class LogitLens(ShortRepr):
    """Output projection of the decoder's state after each layer.

    Args:
        run: The teacher-forced run.
        log_p: (L + 1, T) of the tokens of the translation, in nats; row 0 is the decoder's input.
        rank: (L + 1, T) of these tokens, 1 for the most probable one.
        entropy: (L + 1, T) of the distribution, in nats.
        top: (L + 1, T, K) ids of the most probable tokens, best first.
        top_tokens: The same as text, by layer and position.
        top_log_p: (L + 1, T, K) log-probabilities of these tokens.
    """

    run: TeacherForcedRun
    log_p: Tensor
    rank: Tensor
    entropy: Tensor
    top: Tensor
    top_tokens: tuple[tuple[tuple[str, ...], ...], ...]
    top_log_p: Tensor


@torch.no_grad()
def logit_lens(
    translator: Translator,
    source: str,
    target: str | Translation | None = None,
    *,
    listed: int = LISTED,
    should_stop: Callable[[], bool] | None = None,
) -> LogitLens:
    """Read the decoder's state after each layer as if it were the last one (nostalgebraist 2020).

    A state is projected like the last one: with pre-norm after the final LayerNorm, with post-norm directly. At the
    last layer this is the model's own distribution. No other layer was trained for it, so ranks say more than
    probabilities.

    Args:
        translator: The model. Active edits stay active.
        source: A sentence.
        target: Its translation; None takes the model's own. See `teacher_forced_run`.
        listed: K.
        should_stop: Called before every layer.

    Raises:
        ValueError: The sentence is empty, or `listed` is not from 1 to V.
        SourceTooLong: See `Translator.encode`.
        DecodingStopped: `should_stop` returned True.
    """
    size, layers = translator.config.vocab_size, translator.config.num_layers
    if not 1 <= listed <= size:
        raise ValueError(f"listed is {listed}, but must be from 1 to {size}")
    run, model = teacher_forced_run(translator, source, target, points=_POINTS), translator.model
    check = stop_check(should_stop)
    by_layer: list[tuple[Tensor, ...]] = []
    for layer in range(layers + 1):
        check()
        state = run.captured["decoder.embeddings"] if layer == 0 else run.residual("decoder", layer - 1, "feed_forward")
        log_p = model.logits(model.decoder.norm(state))[0].float().log_softmax(dim=1)  # (T, V)
        token_log_p = log_p.gather(1, run.outputs[:, None])
        top = log_p.topk(listed, dim=1)
        entropy = -(log_p.exp() * log_p).nan_to_num().sum(dim=1)
        by_layer.append((token_log_p[:, 0], (log_p > token_log_p).sum(dim=1) + 1, entropy, top.indices, top.values))
    log_ps, ranks, entropies, tops, top_log_ps = (torch.stack(values) for values in zip(*by_layer, strict=True))
    texts = tuple(tuple(map(translator.tokenizer.tokens, layer)) for layer in tops.tolist())
    return LogitLens(
        run=run, log_p=log_ps, rank=ranks, entropy=entropies, top=tops, top_tokens=texts, top_log_p=top_log_ps
    )


@torch.no_grad()
def decoder_lens(
    translator: Translator, source: str, *, beam: int | None = None, should_stop: Callable[[], bool] | None = None
) -> list[Translation]:
    """Translate from the encoder's state after layer 0, 1, ..., L (DecoderLens, Langedijk et al. 2024).

    The decoder reads that state in place of the encoder's output, after the final LayerNorm if the model has one.
    Layer 0 is the encoder's input: embeddings and positions. Layer L gives the plain translation.

    Args:
        translator: The model. Active edits stay active.
        source: A sentence.
        beam: Hypotheses kept; None takes the checkpoint's default.
        should_stop: See `Translator.translate`.

    Returns:
        L + 1 translations.

    Raises:
        ValueError: The sentence is empty.
        SourceTooLong: See `Translator.encode`.
        DecodingStopped: `should_stop` returned True.
    """
    run, layers = teacher_forced_run(translator, source, "", points=_POINTS), translator.config.num_layers
    states = [run.captured["encoder.embeddings"]]
    states += [run.residual("encoder", layer, "feed_forward") for layer in range(layers)]
    stacked = torch.cat(states)  # (L + 1, S, d)

    def stop_early(value: Tensor, site: Site) -> Tensor:
        rows = range(len(value)) if site.rows.sentences is None else site.rows.sentences
        return stacked[list(rows)].to(value)

    with edit(translator.model, f"encoder.layers.{layers - 1}.feed_forward_add_norm.residual", stop_early):
        return translator.translate_batch([source] * (layers + 1), beam=beam, should_stop=should_stop)
