"""Ablation: translate with the outputs of some heads set to zero.

Attention alone is no explanation (Jain and Wallace 2019): a head may put nearly all its weight on a word and yet change
nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transformer_core.attention_maps import KINDS, Kind
from transformer_core.head import Head as Head

if TYPE_CHECKING:
    from torch import Tensor

    from transformer_core.hooks.hook_sites import Site
    from transformer_core.hooks.points import Edit
    from transformer_core.translator import Translation, Translator

_STACK: dict[Kind, tuple[str, str]] = {
    "encoder": ("encoder", "self_attention"),
    "decoder": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}


def hook_point_name(kind: Kind, layer: int, point: str) -> str:
    """Return the address of a hook point, such as decoder.layers.3.cross_attention.weights."""
    stack, attention = _STACK[kind]
    return f"{stack}.layers.{layer}.{attention}.{point}"


def all_heads(translator: Translator) -> list[Head]:
    """List every head of a model in the order of kinds, layers, heads."""
    config = translator.config
    return [
        Head(k, layer, head) for k in KINDS for layer in range(config.num_layers) for head in range(config.num_heads)
    ]


@dataclass(frozen=True)
class AblatedTranslation:
    """Translation without some heads.

    Args:
        text: The translation.
        words: Its words, and whether each differs from the original translation.
        original: Words of the original, and whether each differs from this translation.
        log_probability: Of the original translation, in nats, under the changed model.
        before: Log-probability of the original under the whole model.
        worst: The token of the original that loses most, and its probability under the whole and the changed model.
    """

    text: str
    words: list[tuple[str, bool]]
    original: list[tuple[str, bool]]
    log_probability: float
    before: float
    worst: tuple[str, float, float]


def translate_without(
    translator: Translator,
    original: Translation,
    heads: Iterable[Head],
    *,
    beam: int,
    should_stop: Callable[[], bool] | None = None,
) -> AblatedTranslation:
    """Translate again with the outputs of some heads set to zero.

    Args:
        translator: The model.
        original: Its translation with all heads.
        heads: Heads to switch off.
        beam: Hypotheses kept at each step.
        should_stop: See `Translator.translate`.
    """
    off = list(heads)
    ids = translator.encode_target(original.text).ids
    before = _log_p(translator, original.source, ids)
    if not off:
        text, after = original.text, before
    else:
        with ablated(translator, off):
            text = translator.translate(original.source, beam=beam, should_stop=should_stop).text
            after = _log_p(translator, original.source, ids)
    first, second = word_diff(original.text.split(), text.split())
    at = int((before - after).argmax())
    token = translator.tokenizer.tokens([*ids, translator.tokenizer.special.eos])[at]
    worst = (token, before[at].exp().item(), after[at].exp().item())
    return AblatedTranslation(text, second, first, after.sum().item(), before.sum().item(), worst)


def _log_p(translator: Translator, source: str, ids: tuple[int, ...]) -> Tensor:
    """Return (T,) log-probabilities of the tokens of a translation, `</s>` included, in nats."""
    import torch

    from transformer_core.translator import TeacherForcedInput

    with torch.no_grad():
        return translator.read([TeacherForcedInput(translator.encode(source), ids)])[0].double()


def ablated(translator: Translator, heads: Iterable[Head]) -> AbstractContextManager[None]:
    """Return a context in which the outputs of some heads are zero."""
    from transformer_core.hooks.points import edit  # with torch, which takes seconds to import

    by_layer: dict[str, list[int]] = {}
    for kind, layer, head in heads:
        by_layer.setdefault(hook_point_name(kind, layer, "head_outputs"), []).append(head)
    return edit(translator, {address: _silence(numbers) for address, numbers in by_layer.items()})


def _silence(heads: list[int]) -> Edit:
    """Return one edit for all these heads of a layer: an edit of each alone copies the value once a head."""

    def change(value: Tensor, _site: Site) -> Tensor:
        changed = value.clone()
        changed[:, heads] = 0.0
        return changed

    return change


def word_diff(before: list[str], after: list[str]) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Compare two sentences: the words of each, and whether each word differs from the other sentence."""
    old, new = [True] * len(before), [True] * len(after)
    for block in difflib.SequenceMatcher(a=before, b=after, autojunk=False).get_matching_blocks():
        old[block.a : block.a + block.size] = [False] * block.size
        new[block.b : block.b + block.size] = [False] * block.size
    return list(zip(before, old, strict=True)), list(zip(after, new, strict=True))
