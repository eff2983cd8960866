"""The best hypothesis of a search, with the attention weights of the tokens that it has read.

Shape legend: L layers, H heads, k = beam, t tokens so far, S source positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_core.attention_maps import Kind
from transformer_core.decoding.candidates import Candidates

WeightRows = tuple[Tensor, Tensor]  # of all layers: self-attention, (L, H, t), and encoder-decoder attention, (L, H, S)


@dataclass(frozen=True)
class Draft:
    """The best hypothesis of a search that goes on.

    Args:
        ids: Tokens without `</s>`.
        finished: Whether `</s>` follows.
        rows: Returns the attention weights of each position that it has read, `<s>` first: as many as it has tokens,
            with `</s>`; none where the model computes no weights.
    """

    ids: tuple[int, ...]
    finished: bool
    rows: Callable[[], list[WeightRows]] = field(repr=False)


OnStep = Callable[[int, Draft], None]


@dataclass(frozen=True)
class _Trail:
    """Tokens of a hypothesis, and the row of the beam that read each position."""

    ids: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()

    def then(self, token: int, row: int) -> _Trail:
        return _Trail((*self.ids, token), (*self.rows, row))


class Recording:
    """The weights that the search for one sentence has computed, for drafts.

    Args:
        sources: S of the sentence, without padding.
        beam: k.
    """

    def __init__(self, sources: int, beam: int) -> None:
        self._sources, self._trails = sources, [_Trail()] * beam
        self._steps: list[WeightRows] = []  # (L, k, H, t) and (L, k, H, S)
        self._ended: dict[int, _Trail] = {}  # by node
        self._next: list[_Trail] = []

    def read(self, weights: Sequence[Tensor], rows: slice) -> None:
        """Take over the weights of a step: see `IncrementalDecoder.step`."""
        if weights:
            own, cross = (each[:, rows] for each in weights)
            self._steps.append((own, cross[..., : self._sources]))

    def grow(self, candidates: Candidates, statuses: Sequence[str], first: int) -> None:
        """Follow the candidates that go on or end; `first` is the node of the first one."""
        before, self._trails = self._trails, []
        for rank, status in enumerate(statuses):
            trail = before[candidates.beams[rank]].then(candidates.tokens[rank], candidates.beams[rank])
            if status == "kept":
                self._trails.append(trail)
            elif status == "finished":
                self._ended[first + rank] = trail

    def draft(self, ended: int | None) -> Draft:
        """Return the first of the beam, or the finished hypothesis that ends at a node."""
        trail = self._trails[0] if ended is None else self._ended[ended]

        def rows() -> list[WeightRows]:
            steps = zip(trail.rows, self._steps, strict=False)
            return [(own[:, row], cross[:, row]) for row, (own, cross) in steps]

        return Draft(trail.ids if ended is None else trail.ids[:-1], ended is not None, rows)

    def maps(self, encoder: Tensor, ended: int | None) -> dict[Kind, Tensor]:
        """Return all attention weights of a hypothesis; none where the model computes none.

        Args:
            encoder: (L, B, H, S, S).
            ended: As for `draft`.
        """
        rows = self.draft(ended).rows()
        if not rows:
            return {}
        own = [F.pad(weights, (0, len(rows) - weights.shape[-1])) for weights, _ in rows]
        decoder, cross = torch.stack(own, dim=2), torch.stack([weights for _, weights in rows], dim=2)
        return {"encoder": encoder, "decoder": decoder[:, None], "cross": cross[:, None]}
