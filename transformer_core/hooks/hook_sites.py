"""The hook points of a model: their names, shapes and meaning."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from torch import Tensor

from transformer_core.attention_maps import Kind

Point = Literal[
    "queries",
    "keys",
    "values",
    "scores",
    "weights",
    "head_outputs",
    "head_results",
    "attention_output",
    "activations",
    "ffn_output",
    "residual",
    "scale",
    "embeddings",
    "logits",
]
HEAD_POINTS: tuple[Point, ...] = ("queries", "keys", "values", "scores", "weights", "head_outputs", "head_results")
POINTS: tuple[Point, ...] = get_args(Point)


@dataclass(frozen=True)
class PointInfo:
    """Description of a kind of hook point.

    Args:
        where: Which modules have such a point.
        shape: Names of the dimensions.
        meaning: Description of the values.
    """

    where: str
    shape: tuple[str, ...]
    meaning: str


_OF_QUERIES, _OF_KEYS = ("batch", "heads", "queries"), ("batch", "heads", "keys")
POINT_INFO: dict[Point, PointInfo] = {
    "queries": PointInfo("every attention", (*_OF_QUERIES, "d_k"), "Q of every head"),
    "keys": PointInfo("every attention", (*_OF_KEYS, "d_k"), "K of every head"),
    "values": PointInfo("every attention", (*_OF_KEYS, "d_v"), "V of every head"),
    "scores": PointInfo(
        "every attention", (*_OF_QUERIES, "keys"), "scaled and masked; softmax of them gives the weights"
    ),
    "weights": PointInfo("every attention", (*_OF_QUERIES, "keys"), "after softmax, before any dropout, float32"),
    "head_outputs": PointInfo("every attention", (*_OF_QUERIES, "d_v"), "output of each head, before W^O"),
    "head_results": PointInfo("every attention", (*_OF_QUERIES, "d_model"), "each head after W^O, without its bias"),
    "attention_output": PointInfo("every attention", ("batch", "queries", "d_model"), "after W^O, before Add & Norm"),
    "activations": PointInfo(
        "every feed-forward network", ("batch", "positions", "d_ff"), "after max(0, x W_1 + b_1), before W_2"
    ),
    "ffn_output": PointInfo(
        "every feed-forward network", ("batch", "positions", "d_model"), "after W_2, before Add & Norm"
    ),
    "residual": PointInfo("every Add & Norm", ("batch", "positions", "d_model"), "its result: the residual stream"),
    "scale": PointInfo("every LayerNorm", ("batch", "positions", "1"), "standard deviation, with epsilon"),
    "embeddings": PointInfo(
        "encoder, decoder", ("batch", "positions", "d_model"), "embedding plus position, before dropout"
    ),
    "logits": PointInfo(
        "decoder",
        ("batch", "positions", "vocab_size"),
        "before the last softmax; not in training, where they never exist as a whole",
    ),
}

_KIND_OF_ATTENTION: dict[tuple[str, str], Kind] = {
    ("encoder", "self_attention"): "encoder",
    ("decoder", "self_attention"): "decoder",
    ("decoder", "cross_attention"): "cross",
}


@dataclass(frozen=True)
class Rows:
    """Meaning of the rows of the running batch.

    Args:
        query_offset: Position of the first query; above 0 only in step-by-step decoding.
        sentences: Number of the sentence that each row belongs to; None when rows are sentences in order.
        beams: Number of the hypothesis within its sentence, for each row; None outside beam search.
        lengths: Sentence -> its positions in the encoder and in the decoder without padding, None while its translation
            is generated. Known to passes of a `Translator`, which number the sentences as they were given.
        total: How many sentences were given, for one pass or several; None where only this pass is known.
    """

    query_offset: int = 0
    sentences: tuple[int, ...] | None = None
    beams: tuple[int, ...] | None = None
    lengths: Mapping[int, tuple[int, int | None]] = field(default_factory=dict)
    total: int | None = None


SENTENCES_IN_ORDER = Rows()


@dataclass(frozen=True)
class Site:
    """The place of a value, passed to every edit.

    Args:
        address: Dotted name, such as `decoder.layers.3.cross_attention.weights`.
        kind: `encoder`, `decoder` or `cross` in an attention and its Add & Norm, else None.
        layer: Counted from 0; None for embeddings and logits.
        point: Which of `POINTS`.
        rows: Meaning of the rows of the batch.
        head: The only head that changes, counted from 0; None for all.
    """

    address: str
    kind: Kind | None
    layer: int | None
    point: Point
    rows: Rows = SENTENCES_IN_ORDER
    head: int | None = None

    @property
    def shape(self) -> tuple[str, ...]:
        """Names of the dimensions of the values here."""
        return POINT_INFO[self.point].shape

    @property
    def meaning(self) -> str:
        """Description of the values here."""
        return POINT_INFO[self.point].meaning

    def sentences(self, value: Tensor) -> tuple[int, ...]:
        """Return the number of the sentence of each row of a value here."""
        numbers = self.rows.sentences or tuple(range(len(value)))
        # Keys and values of the source are shared by the beams of a sentence.
        return numbers if len(value) == len(numbers) else tuple(dict.fromkeys(numbers))

    def positions(self, value: Tensor, sentence: int) -> int | None:
        """Return how many positions a sentence has here without padding; None while its translation is generated."""
        source, target = self.rows.lengths.get(sentence, (None, None))
        if self.stack == "encoder":
            return source or value.shape[-2]
        return value.shape[-2] if self.rows is SENTENCES_IN_ORDER else target  # no context: a whole pass

    def keys(self, value: Tensor, sentence: int) -> int:
        """Return how many keys a sentence has in `scores` and `weights` here, without padding."""
        source, target = self.rows.lengths.get(sentence, (None, None))
        return (target if self.kind == "decoder" else source) or value.shape[-1]

    @property
    def stack(self) -> str:
        """`encoder` or `decoder`: the one whose positions these values have."""
        of_source = self.kind == "cross" and self.point in ("keys", "values")
        return "encoder" if of_source else self.address.partition(".")[0]


def site_of(address: str) -> Site:
    """Return kind, layer and point from the dotted name of a hook point in a Transformer."""
    stack, *inside, point = address.split(".")
    if inside[:1] != ["layers"]:
        return Site(address, None, None, cast(Point, point))
    kind = _KIND_OF_ATTENTION.get((stack, inside[2].removesuffix("_add_norm")))
    return Site(address, kind, int(inside[1]), cast(Point, point))


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a question, "; did you mean ...?", with the known name most like a wrong one; empty where none is."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
