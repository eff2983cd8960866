"""Decomposition of one attention score: by dimension of query and key, and by the origins of both.

* `neuron_view` (Vig 2019): the score is the sum of d_k products, q_c k_c / sqrt(d_k).
* `decompose_score`: query and key are sums over origins (see `linearized_model`), so the score is a sum over pairs
  of origins, q_a . k_b / sqrt(d_k). In the first layer of a post-norm model nothing has to be frozen: the score is
  exactly word-word + word-position + position-word + position-position (Ke et al. 2021), and parts with a bias if W^Q
  and W^K have one. Elsewhere attention weights, the standard deviation of every LayerNorm and the gates of every ReLU
  are frozen, although other words would change them too.

Shape legend: A origins of queries, B of keys, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer_core.analysis.linearized_model import BY, By, LinearizedModel, Origin, linear
from transformer_core.analysis.teacher_forced_run import SUBLAYERS, TeacherForcedRun, stop_check
from transformer_core.attention_variants import VARIANTS, Feature
from transformer_core.head import Head, head_named
from transformer_core.hooks.hook_sites import Point
from transformer_core.model.attention import MultiHeadAttention, attention_weights
from transformer_core.short_repr import ShortRepr
from transformer_core.translator import Translator

POINTS: tuple[Point, ...] = ("queries", "keys", "scores", "weights", "activations", "embeddings")


class NoParts(ValueError):
    """Scores of this model or layer that do not decompose into parts; the message says why."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NeuronView(ShortRepr):
    """One score by dimension.

    Args:
        query: (d_k,).
        key: (d_k,).
        products: (d_k,), q_c k_c / sqrt(d_k); they sum to the score.
        score: Of the run.
    """

    query: Tensor
    key: Tensor
    products: Tensor
    score: float


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreDecomposition(ShortRepr):
    """All scores of a head by origin.

    Args:
        query_origins: (A,), the biases last.
        key_origins: (B,), the biases last.
        queries: (A, Q, d_k) part of each query.
        keys: (B, K, d_k) part of each key.
        scale: Factor of each product of query and key, 1 / sqrt(d_k).
        scores: (Q, K) of the run; minus infinity where the mask forbids.
    """

    query_origins: tuple[Origin, ...]
    key_origins: tuple[Origin, ...]
    queries: Tensor
    keys: Tensor
    scale: float
    scores: Tensor

    def of(self, query: int, key: int) -> Tensor:
        """Return (A, B), the parts of one score, which sum to it. Raises ValueError for a masked cell."""
        _check_cell(self.scores, query, key)
        return self.scale * self.queries[:, query] @ self.keys[:, key].T

    def in_row(self, query: int, of_query: Collection[int], of_key: Collection[int]) -> Tensor:
        """Return (K,), the part of these pairs of origins, by number, in the score of each key of a row."""
        query_part = self.queries[list(of_query), query].sum(dim=0)
        return self.scale * self.keys[list(of_key)].sum(dim=0) @ query_part

    def scaled_row(self, query: int, of_query: Collection[int], of_key: Collection[int], factor: float) -> Tensor:
        """Return (K,) weights of a row with one part scaled by `factor`.

        The part belongs to all pairs of `of_query` and `of_key`. It is scaled in the score of every key of the row,
        since an origin may reach several keys: s'_j = s_j - (1 - factor) * part_j. Then softmax under the same mask.
        All other parts, the values and the rest of the model stay unchanged.

        Raises:
            ValueError: `factor` is not from 0 to 1.
        """
        if not 0.0 <= factor <= 1.0:
            raise ValueError(f"factor is {factor}, but must be from 0 to 1")
        scores = self.scores[query] - (1.0 - factor) * self.in_row(query, of_query, of_key)
        return attention_weights(scores[None, None, None])[0, 0, 0]


@torch.no_grad()
def neuron_view(translator: Translator, run: TeacherForcedRun, head: str, query: int, key: int) -> NeuronView:
    """Return the products of query and key that sum to a score.

    Args:
        translator: The model.
        run: A run with `POINTS` captured.
        head: Such as `encoder.1.1`.
        query: Position, from 0.
        key: Position, from 0.

    Raises:
        ValueError: There is no such cell, or the mask forbids it.
        NoParts: The scores of this variant of attention are no products of a query and a key.
    """
    place, attention = _attention(translator, "neuron_view", head)
    scores = _captured(run, place, "scores")
    _check_cell(scores, query, key)
    of_query = _captured(run, place, "queries")[query].float()
    of_key = _captured(run, place, "keys")[key].float()
    products = attention.scale * of_query * of_key
    return NeuronView(query=of_query, key=of_key, products=products, score=float(scores[query, key]))


@torch.no_grad()
def decompose_score(
    translator: Translator,
    run: TeacherForcedRun,
    head: str,
    *,
    by: By = "part",
    should_stop: Callable[[], bool] | None = None,
) -> ScoreDecomposition:
    """Decompose all scores of a head into sums over pairs of origins.

    The origins in the encoder are source tokens. Those in the decoder are target tokens and, through encoder-decoder
    attention below, source tokens. All biases together are one more origin.

    Args:
        translator: The model, without active edits.
        run: A run with `POINTS` captured.
        head: Such as `encoder.1.1`.
        by: `part`: word and position of each token; `token`: each token; `role`: all words and all positions.
        should_stop: Called before every layer.

    Raises:
        ValueError: There is no such head, or `by` is unknown.
        NoParts: The scores are no products of a query and a key; or a feed-forward network comes before, whose
            activation is not ReLU.
        DecodingStopped: `should_stop` returned True.
    """
    if by not in BY:
        raise ValueError(f"by is {by!r}, but must be one of {', '.join(BY)}")
    place, attention = _attention(translator, "decompose_score", head)
    (kind, layer, number), activation = place, translator.config.activation
    if activation != "relu" and (layer or kind == "cross"):
        raise NoParts(
            f"parts by origin need ReLU, whose gates can be frozen, but this model has {activation}; "
            "only self-attention in the first layer is offered"
        )
    network = LinearizedModel(translator, run, by, stop_check(should_stop))
    of_queries, of_keys = network.read(kind, layer)
    width = translator.config.d_k

    def projected(parts: Tensor, name: str) -> Tensor:
        layer_of = attention.get_submodule(name)
        assert isinstance(layer_of, nn.Linear)
        return linear(parts, layer_of, slice(number * width, (number + 1) * width))

    return ScoreDecomposition(
        query_origins=network.origins("encoder" if kind == "encoder" else "decoder"),
        key_origins=network.origins("decoder" if kind == "decoder" else "encoder"),
        queries=projected(of_queries, "w_q"),
        keys=projected(of_keys, "w_k"),
        scale=attention.scale,
        scores=_captured(run, place, "scores").float(),
    )


def _attention(translator: Translator, feature: Feature, name: str) -> tuple[Head, MultiHeadAttention]:
    config = translator.config
    place = head_named(name, config.num_layers, config.num_heads)
    kind, layer, _ = place
    stack = translator.model.encoder if kind == "encoder" else translator.model.decoder
    attention = stack.layers[layer].get_submodule(SUBLAYERS[kind])
    assert isinstance(attention, MultiHeadAttention)
    variant = VARIANTS[config.attention]
    known = type(attention) is variant.module_class(bool(config.window) and kind != "cross")
    if feature not in variant.supports or not known:
        of = config.attention if known else type(attention).__name__
        raise NoParts(f"{feature} needs scores that are products of a query and a key; those of {of} attention are not")
    return place, attention


def _captured(run: TeacherForcedRun, head: Head, point: Point) -> Tensor:
    return run.captured[f"{head}.{point}"][0]


def _check_cell(scores: Tensor, query: int, key: int) -> None:
    for name, number, count in zip(("query", "key"), (query, key), scores.shape, strict=True):
        if not 0 <= number < count:
            raise ValueError(f"{name} is {number}, but must be from 0 to {count - 1}")
    if scores[query, key].isinf():
        raise ValueError(f"the mask hides key {key} from query {query}")
