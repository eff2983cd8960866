"""Methods of source attribution, with their input and output.

Shape legend: R rows, one for each explained token (T of them, or 1 with a contrast), S source positions,
T target positions, V = vocab_size, W words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import torch
from torch import Tensor

from transformer_core.analysis.flow.backward import POINTS as POINTS  # enough for every method
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun
from transformer_core.attention_maps import Axis
from transformer_core.hooks.hook_sites import Point
from transformer_core.short_repr import ShortRepr
from transformer_core.text.tokenizer import axis

Method = Literal[
    "attention",
    "rollout",
    "norm",
    "norm-ln",
    "alti",
    "grad-x-input",
    "gradient",
    "integrated-gradients",
    "leave-one-out",
    "flow",
]
METHODS: tuple[Method, ...] = get_args(Method)
OF_LAYERS: tuple[Method, ...] = ("attention", "norm", "norm-ln")  # a layer can be chosen
OF_HEADS: tuple[Method, ...] = ("attention", "norm")  # and a head
SHARES: tuple[Method, ...] = ("rollout", "alti")  # source and target together sum to 1
# Those that explain a chosen token, or a contrast of two.
OF_TOKENS: tuple[Method, ...] = ("grad-x-input", "gradient", "integrated-gradients", "leave-one-out", "flow")
_OF_ATTENTION: tuple[Point, ...] = ("weights", "values", "head_outputs", "residual", "embeddings")
_WEIGHTS_ONLY: tuple[Method, ...] = ("attention", "rollout", "leave-one-out")
_OF_VECTORS: tuple[Method, ...] = ("norm", "norm-ln", "alti")


def points_of(method: Method) -> tuple[Point, ...]:
    """Return the activations that a method needs; fewer are faster."""
    if method == "flow":
        return POINTS
    return _OF_ATTENTION if method in _OF_VECTORS else _OF_ATTENTION[:1] if method in _WEIGHTS_ONLY else ()


@dataclass(frozen=True)
class Contrast:
    """Contrastive question, why this token and not that one: log p(token) - log p(other) instead of log p(token).

    A positive value supports `token`, a negative one `other`.

    Args:
        position: Target position, counted from 0.
        token: Id.
        other: Id.
    """

    position: int
    token: int
    other: int


@dataclass(frozen=True)
class Question:
    """Explained tokens, a number for each row.

    Args:
        positions: (R,) target positions.
        tokens: (R,) ids.
        others: (R,) ids of a contrast, or None.
    """

    positions: Tensor
    tokens: Tensor
    others: Tensor | None = None

    @classmethod
    def of(cls, run: TeacherForcedRun, contrast: Contrast | None = None) -> Question:
        """Ask about every token of a translation, or about one contrast.

        Raises:
            ValueError: The translation lacks the position of the contrast.
        """
        device = run.outputs.device
        if contrast is None:
            return cls(torch.arange(len(run.outputs), device=device), run.outputs)
        if not 0 <= contrast.position < len(run.outputs):
            raise ValueError(f"the translation has tokens 0 to {len(run.outputs) - 1}, not {contrast.position}")
        position, token, other = torch.tensor([[contrast.position], [contrast.token], [contrast.other]], device=device)
        return cls(position, token, other)

    def answer(self, logits: Tensor, rows: Tensor | slice = slice(None)) -> Tensor:
        """Return the log-probability of the tokens, minus that of the others: (..., R, V) -> (..., R) nats.

        Args:
            logits: At the positions of these rows.
            rows: Selects rows.
        """
        log_p = logits.float().log_softmax(dim=-1)
        shape = (*log_p.shape[:-1], 1)
        answers = log_p.gather(-1, self.tokens[rows, None].expand(shape)).squeeze(-1)
        if self.others is None:
            return answers
        return answers - log_p.gather(-1, self.others[rows, None].expand(shape)).squeeze(-1)


@dataclass(frozen=True, kw_only=True)
class Attribution(ShortRepr):
    """Attribution of every generated token to source tokens and decoder inputs.

    Row t explains the token at position t, where the decoder reads input t. Columns of `target` are inputs: `<s>` and
    the tokens before. With a contrast there is one row, at its position.

    Args:
        method: One of `METHODS`.
        run: The teacher-forced run.
        source: (R, S).
        target: (R, T); 0 where the causal mask hides a column.
        contrast: The contrastive question; None for log p of each token.
        report: Diagnostics of the method. Integrated gradients: `gap` (R,), the completeness gap in nats, `difference`
            (R,), what the row should sum to, and `steps`, the gradients computed.
            Leave-one-out: `redistributed_source` (S,) and `redistributed_target` (T,), the share of attention that
            softmax gives to other keys when a token is masked. It is the mean weight of the token over all queries,
            heads and layers of the unchanged run. Flow: `biases` (R,), what is missing from each row to the logit.
    """

    method: Method
    run: TeacherForcedRun
    source: Tensor
    target: Tensor
    contrast: Contrast | None = None
    report: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def source_axis(self) -> Axis:
        """Labels of the columns of `source`, with words."""
        return source_axis(self.run)

    @property
    def input_axis(self) -> Axis:
        """Labels of the columns of `target`, with words."""
        return input_axis(self.run)

    @property
    def source_words(self) -> Tensor:
        """(R, W) sums over the tokens of each source word, without `</s>`."""
        return by_words(self.source, self.source_axis)

    @property
    def sizes(self) -> Tensor:
        """(R, W) absolute values of `source_words`, for comparison and ranking."""
        return self.source_words.abs()


def source_axis(run: TeacherForcedRun) -> Axis:
    """Return the labels of the S source tokens."""
    return axis(run.source_tokens[:-1], end=True, at_blanks=run.at_blanks)


def input_axis(run: TeacherForcedRun) -> Axis:
    """Return the labels of the T decoder inputs."""
    return axis(run.tokens[:-1], start=True, at_blanks=run.at_blanks)


def by_words(values: Tensor, labels: Axis) -> Tensor:
    """Sum over the tokens of each word: (R, n) -> (R, W), without `<s>` and `</s>`."""
    plain = [number for number, special in enumerate(labels.special) if not special]
    numbers = torch.tensor([labels.words[number] for number in plain], dtype=torch.long, device=values.device)
    first = int(numbers[0]) if plain else 0
    summed = values.new_zeros(len(values), len({labels.words[number] for number in plain}))
    return summed.index_add_(1, numbers - first, values[:, plain])
