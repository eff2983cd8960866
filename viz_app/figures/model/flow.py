"""Figures of the flow: what the tokens of a translation are made of, and the whole way of one through every layer.

Shape legend: S source tokens, T generated tokens, L layers, n positions of a stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from transformer_core.attention_maps import FloatArray, Kind
from viz_app.figures.model.figure import Figure

Stack = Literal["encoder", "decoder"]
STACKS: tuple[Stack, ...] = ("encoder", "decoder")
Origin = Literal["source", "inputs", "biases"]

# As in the explorer's foldedscene.js, shares of the positive parts below which no ribbon is drawn:
LEAST = 0.004  # of the chosen token
FAINTEST = 0.06  # of all tokens together
NARROW = 0.6  # width of these, in that of the chosen token's


@dataclass(frozen=True)
class Part:
    """Part of a logit: of a source token, of a token that the decoder reads, or of all biases."""

    origin: Origin
    position: int
    value: float


@dataclass(frozen=True)
class Way:
    """An attention edge, summed over the heads of its layer; layer, query and key count from 0."""

    kind: Kind
    layer: int
    query: int
    key: int
    flow: float


@dataclass(frozen=True, kw_only=True)
class WayGraph:
    """The fewest ways that carry a share of all flow, and the states between them.

    Args:
        ways: The largest first.
        share: Share of all flow that they carry, 0 to 1; all flow is the sum of the sizes of all ways.
        count: Number of all ways.
        states: Stack -> (L + 1, n), contributions of the layers' inputs and of the last output.
        residuals: Stack -> (L, n), what passes by a layer's self-attention.
    """

    ways: Sequence[Way]
    share: float
    count: int
    states: Mapping[Stack, FloatArray]
    residuals: Mapping[Stack, FloatArray]


@dataclass(frozen=True, kw_only=True)
class MadeToken:
    """A generated token with the parts that sum to its logit.

    Args:
        position: Its number, from 0.
        logit: Its logit, minus the mean of the vocabulary or the logit of another token.
        source: (S,) parts of the source tokens.
        inputs: (position + 1,) parts of the tokens that the decoder has read, the start of the sentence first.
        biases: Part of all biases.
        against: The other token, if it is compared with one.
        graph: Its whole way; None where only the parts matter.
    """

    position: int
    logit: float
    source: FloatArray
    inputs: FloatArray
    biases: float
    against: str | None = None
    graph: WayGraph | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts, the biases last."""
        values = {"source": self.source.tolist(), "inputs": self.inputs.tolist(), "biases": [self.biases]}
        return tuple(Part(origin, i, value) for origin, each in values.items() for i, value in enumerate(each))  # type: ignore[arg-type]

    @property
    def added(self) -> float:
        """Sum of the positive parts, which shares are shares of."""
        return sum(part.value for part in self.parts if part.value > 0) or 1.0


@dataclass(frozen=True, kw_only=True)
class FlowFigure(Figure):
    """Ribbons from generated tokens to what they are made of; or every layer of the way of one.

    Args:
        source: Labels of the source tokens.
        outputs: Labels of the generated tokens.
        tokens: The generated tokens that are drawn.
        titles: Names of `source`, `inputs` and `biases`, of the kinds of attention, of `residual` connections, of the
            stacks, `left` and `right`, and of `negative` parts.
        start: Label of the first token that the decoder reads.
        word: Position of the chosen one; None for all alike.
        note: What widths and numbers mean.
        reached: How far it has grown, 0 to 1.

    Raises:
        ValueError: There is no token, or the chosen one is missing.
    """

    source: Sequence[str]
    outputs: Sequence[str]
    tokens: Sequence[MadeToken]
    titles: Mapping[str, str]
    start: str = "<s>"
    word: int | None = None
    note: str = ""
    reached: float = 1.0
    name: str = "headlight_flow"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("source", "outputs", "tokens"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.tokens:
            raise ValueError("a figure of the flow needs at least one token")
        if self.word is not None and self.word not in {token.position for token in self.tokens}:
            raise ValueError(f"word is {self.word}, but its parts are missing")

    @property
    def inputs(self) -> tuple[str, ...]:
        """Labels of the tokens that the decoder reads, and of the last output."""
        return (self.start, *self.outputs)

    @property
    def chosen(self) -> MadeToken | None:
        """The chosen token."""
        return next((token for token in self.tokens if token.position == self.word), None)

    @property
    def graph(self) -> WayGraph | None:
        """The whole way of the chosen token; None for a folded figure."""
        return self.chosen.graph if self.chosen else None

    def label(self, part: Part) -> str:
        """Return the name of a part."""
        if part.origin == "biases":
            return self.titles["biases"]
        return (self.source if part.origin == "source" else self.inputs)[part.position]


def number(value: float) -> str:
    """Write a part: one decimal, a true minus sign."""
    return f"{round(value, 1) + 0.0:.1f}".replace("-", "\u2212")
