"""Attribution by gradients of the log-probability with respect to the embeddings.

Embeddings are taken after scaling, before positions are added. With `embedding_norm` they are the difference that the
words make to the normalised positions. Source and target have separate tensors, even with a shared matrix.

* `gradient`: || g ||, the L2 norm over d.
* `grad-x-input`: the sum over d of g x, signed.
* `integrated-gradients` (Sundararajan, Taly and Yan 2017): the sum over d of (x - x') times the mean of g on the
  straight line from the baseline x' to x, by Gauss-Legendre quadrature. In the baseline all embeddings but `<s>` and
  `</s>` are 0; positions stay. Source and target move together. The sum of a row is the log-probability minus that of
  the baseline, up to the error of the quadrature: the completeness gap. Without a number of steps, those pieces of the
  line are halved on which the sum is furthest from what the log-probability gains, until the gap is small enough.

Shape legend: R rows, one for each explained token, B points of the line, S source positions, T target positions,
n either, d = d_model, V = vocab_size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import starmap

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from transformer_core.analysis.attribution.methods import Method, Question, input_axis, source_axis
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun
from transformer_core.attention_maps import Axis
from transformer_core.hooks.hook_sites import Rows, Site
from transformer_core.hooks.points import edit, row_context
from transformer_core.model.transformer import Transformer
from transformer_core.translator import Translator

FloatArray = npt.NDArray[np.float64]

_MAX_VALUES = 2**26  # that a batch keeps for its backward pass, about: 256 MiB
_TENSORS = 6  # that exist at a time in a backward pass
_PLACES = ("encoder.embeddings", "decoder.embeddings")
_SMALL_GAP = 0.01  # of the difference of the log-probabilities
_NO_GAP = 1e-3  # nats
_PIECES, _STEPS_OF_PIECE, _MAX_PIECES = 8, 4, 128


def by_gradients(
    translator: Translator,
    run: TeacherForcedRun,
    question: Question,
    method: Method,
    steps: int | None,
    check: Callable[[], None],
    expect: Callable[[int], None],
) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Compute (R, S), (R, T), and for integrated gradients the report; `expect` gets the number of checks."""
    integrated = method == "integrated-gradients"
    path = _Path(translator, run, question, from_zero=integrated)
    if integrated and steps is None:
        return _refined(path, check)
    points, weights = _quadrature(steps) if integrated and steps else (np.ones(1), np.ones(1))
    starts = range(0, len(points), path.max_points)
    expect(sum(1 + path.batches(min(path.max_points, len(points) - start)) for start in starts))
    source, target = path.sums(method, points, weights, check)
    return source, target, _report(path, source, target, len(points)) if integrated else {}


def _refined(path: _Path, check: Callable[[], None]) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Halve the worst pieces of the line until every row has a small gap, or there are _MAX_PIECES."""
    nodes, weights = _quadrature(_STEPS_OF_PIECE)

    def measure(begin: float, end: float) -> tuple[tuple[float, float], Tensor, Tensor, Tensor]:
        """Return a piece: its ends, its part of the sums (R, S) and (R, T), and the error (R,) of their total."""
        width = end - begin
        source, target = path.sums("integrated-gradients", begin + width * nodes, width * weights, check)
        before, after = path.answers(source.new_tensor([begin, end]))
        return (begin, end), source, target, source.sum(dim=1) + target.sum(dim=1) - (after - before)

    pieces = [measure(k / _PIECES, (k + 1) / _PIECES) for k in range(_PIECES)]
    measured = len(pieces)
    while True:
        source = torch.stack([piece[1] for piece in pieces]).sum(dim=0)
        target = torch.stack([piece[2] for piece in pieces]).sum(dim=0)
        report = _report(path, source, target, measured * _STEPS_OF_PIECE)
        open_rows = report["gap"] > (_SMALL_GAP * report["difference"].abs()).clamp(min=_NO_GAP)
        if not open_rows.any() or len(pieces) >= _MAX_PIECES:
            return source, target, report
        pieces.sort(key=lambda piece: float((piece[3] / report["difference"])[open_rows].abs().max()))
        worst = [pieces.pop()[0] for _ in range(-(-len(pieces) // 4))]
        halves = [half for a, b in worst for half in ((a, (a + b) / 2), ((a + b) / 2, b))]
        pieces += starmap(measure, halves)
        measured += len(halves)


def _report(path: _Path, source: Tensor, target: Tensor, steps: int) -> dict[str, Tensor]:
    """Return the completeness gap (R,), the difference (R,) that rows should sum to, and the gradients computed."""
    whole, baseline = path.answers(source.new_tensor([1.0, 0.0]))
    difference = whole - baseline
    gap = (source.sum(dim=1) + target.sum(dim=1) - difference).abs()
    return {"gap": gap, "difference": difference, "steps": torch.tensor(steps)}


def _quadrature(steps: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre points on [0, 1] and their weights, which sum to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(steps)  # on [-1, 1]
    return (nodes + 1) / 2, weights / 2


class _Path:
    """Straight line from a baseline to the embeddings of a run.

    Args:
        translator: The model. Active edits stay active.
        run: The sentence.
        question: The explained tokens.
        from_zero: Whether the baseline keeps `<s>` and `</s>`; otherwise all embeddings count.
    """

    def __init__(self, translator: Translator, run: TeacherForcedRun, question: Question, *, from_zero: bool) -> None:
        self._model, self._run, self._question = translator.model, run, question
        with torch.no_grad():
            embedded = _words(self._model, run.source, of_source=True), _words(self._model, run.inputs, of_source=False)
        axes = (source_axis(run), input_axis(run))
        self.inputs = [
            _without_special(x, a) if from_zero else x for x, a in zip(embedded, axes, strict=True)
        ]  # x - x'
        config, s, t = translator.config, run.source.shape[1], run.inputs.shape[1]
        of_tokens = (s + t) * (16 * config.d_model + 3 * config.d_ff)
        of_pairs = 4 * config.num_heads * (s * s + s * t + t * t)
        values_per_point = config.num_layers * (of_tokens + of_pairs) + 3 * len(question.positions) * config.vocab_size
        self.max_points = max(1, _MAX_VALUES // values_per_point)
        self._widest = max(s, t) * max(2 * config.d_model, config.d_ff, config.num_heads * max(s, t))

    def _rows(self, points: int) -> int:
        """Return the number of rows of the question in one backward pass."""
        return max(1, _MAX_VALUES // (_TENSORS * points * self._widest))

    def batches(self, points: int) -> int:
        """Return the number of backward passes for a number of points."""
        return -(-len(self._question.positions) // self._rows(points))

    def sums(
        self, method: Method, points: FloatArray, weights: FloatArray, check: Callable[[], None]
    ) -> tuple[Tensor, Tensor]:
        """Return (R, S) and (R, T), sums over points of the line, by weight."""
        like = self.inputs[0]
        totals = [like.new_zeros(len(self._question.positions), x.shape[1]) for x in self.inputs]
        for start in range(0, len(points), self.max_points):
            part = slice(start, start + self.max_points)
            at, weight = like.new_tensor(points[part]), like.new_tensor(weights[part])
            for rows, gradients in self.gradients(at, check):
                for total, gradient, x in zip(totals, gradients, self.inputs, strict=True):
                    per_token = gradient.norm(dim=3) if method == "gradient" else (gradient * x).sum(dim=3)
                    total[rows] += torch.einsum("rbn,b->rn", per_token, weight)
        source, target = totals
        return source, target

    def gradients(self, at: Tensor, check: Callable[[], None]) -> Iterator[tuple[slice, tuple[Tensor, ...]]]:
        """Compute the gradients of the answers at points of the line.

        All rows of the question share one forward pass; many rows share a batched backward pass.

        Args:
            at: (B,) places on the line, 0 for the baseline and 1 for the embeddings.
            check: Called before each pass.

        Yields:
            Rows, and their gradients (rows, B, S, d) and (rows, B, T, d).
        """
        check()
        positions, device = self._question.positions, at.device
        with torch.enable_grad():
            moves = [((at - 1.0)[:, None, None] * x).requires_grad_() for x in self.inputs]
            states = self._states(moves)  # (B, T, d)
            chosen = states[:, positions].detach().requires_grad_()  # (B, R, d)
            answers = self._question.answer(self._model.logits(chosen))  # (B, R)
        # A row of the answer depends on its own state only, so one pass serves all.
        (of_states,) = torch.autograd.grad(answers.sum(), chosen)
        size = self._rows(len(at))
        for start in range(0, len(positions), size):
            check()
            rows = slice(start, start + size)
            each = torch.arange(len(positions[rows]), device=device)
            upstream = states.new_zeros(len(each), *states.shape)
            upstream[each, :, positions[rows]] = of_states[:, rows].transpose(0, 1)
            yield rows, torch.autograd.grad(states, moves, upstream, retain_graph=True, is_grads_batched=True)

    @torch.no_grad()
    def answers(self, at: Tensor) -> Tensor:
        """Return (B, R) answers at the places `at`, (B,), of the line."""
        states = self._states([(at - 1.0)[:, None, None] * x for x in self.inputs])
        return self._question.answer(self._model.logits(states[:, self._question.positions]))

    def _states(self, moves: list[Tensor]) -> Tensor:
        """Return the decoder's output (B, T, d) with the embeddings moved by (B, S, d) and (B, T, d)."""
        by_place = dict(zip(_PLACES, moves, strict=True))

        def move(value: Tensor, site: Site) -> Tensor:
            return value + by_place[site.address]

        count = len(moves[0])
        source, inputs = (ids.expand(count, -1) for ids in (self._run.source, self._run.inputs))
        mask = self._run.source_mask.expand(count, -1, -1, -1)
        with row_context(Rows(sentences=(0,) * count)), edit(self._model, _PLACES, move):
            return self._model.decode(inputs, self._model.encode(source, mask), mask)


def _words(model: Transformer, ids: Tensor, *, of_source: bool) -> Tensor:
    """Return what the words add to the positions in the input of the first layer: (1, n) -> (1, n, d)."""
    embedding, positions = model.embedding, model.positions
    norm = model.decoder.embedding_norm
    if of_source:
        embedding, positions = model.source_embedding or embedding, model.source_positions or positions
        norm = model.encoder.embedding_norm
    words, places = embedding(ids), positions(0, ids.shape[1])
    out: Tensor = words if isinstance(norm, nn.Identity) else norm(words + places) - norm(places)
    return out


def _without_special(x: Tensor, labels: Axis) -> Tensor:
    """Return (1, n, d) with zeros at `<s>` and `</s>`."""
    return x.masked_fill(torch.tensor(labels.special, device=x.device)[None, :, None], 0.0)
