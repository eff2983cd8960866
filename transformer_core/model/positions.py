"""Positional encodings (Section 3.5).

Shape legend: n positions, d = d_model.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def sinusoidal_positions(
    length: int,
    d_model: int,
    device: torch.device | None = None,
    *,
    interleaved: bool = True,
    whole_range: bool = False,
) -> Tensor:
    """(n, d) float32: PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d)).

    Not interleaved, all sines come before all cosines, with the same angles: the same columns in another order. With
    `whole_range` the slowest angle is exactly pos / 10000, as in tensor2tensor: the exponents are i / (d/2 - 1).
    """
    cpu = torch.device("cpu")  # not every GPU has float64
    positions = torch.arange(length, dtype=torch.float64, device=cpu)[:, None]  # (n, 1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64, device=cpu)  # 2i, (d/2,)
    slowest = max(d_model - 2, 1) if whole_range else d_model
    angles = positions * torch.exp(even * (-math.log(10_000.0) / slowest))  # (n, d/2)
    if not interleaved:
        return torch.cat((torch.sin(angles), torch.cos(angles)), dim=1).float().to(device)
    table = torch.empty(length, d_model, dtype=torch.float64, device=cpu)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table.float().to(device)


class SinusoidalPositions(nn.Module):
    """The table of sines and cosines; it grows when a longer sentence comes.

    Args:
        d_model: Width.
        length: Rows to begin with.
        interleaved: See `sinusoidal_positions`.
        whole_range: See `sinusoidal_positions`.
        offset: Number of the first token's position.
    """

    table: Tensor

    def __init__(
        self,
        d_model: int,
        length: int = 512,
        *,
        interleaved: bool = True,
        whole_range: bool = False,
        offset: int = 0,
    ) -> None:
        super().__init__()
        self.interleaved, self.whole_range, self.offset = interleaved, whole_range, offset
        device = torch.get_default_device()
        if device.type == "meta":  # only its shape; to compute there, PyTorch would load its compiler
            table = torch.empty(length, d_model)
        else:
            table = self._rows(length, d_model, torch.device("cpu")).to(device)
        self.register_buffer("table", table, persistent=False)

    def forward(self, first: int, length: int) -> Tensor:
        """(length, d) rows of positions first, first + 1, ..."""
        if first + length > self.table.shape[0]:
            grown = max(first + length, 2 * self.table.shape[0])
            self.table = self._rows(grown, self.table.shape[1], self.table.device)
        return self.table[first : first + length]

    def _rows(self, length: int, d_model: int, device: torch.device) -> Tensor:
        table = sinusoidal_positions(
            self.offset + length, d_model, device, interleaved=self.interleaved, whole_range=self.whole_range
        )
        return table[self.offset :]


class LearnedPositions(nn.Module):
    """A trained table of fixed length (Section 3.5 and row E of Table 3)."""

    def __init__(self, d_model: int, length: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(length, d_model))  # (longest n, d)

    def forward(self, first: int, length: int) -> Tensor:
        """(length, d) rows of positions first, first + 1, ... Raises TooLong beyond the end of the table."""
        if first + length > self.weight.shape[0]:
            raise TooLong(first + length, self.weight.shape[0])
        return self.weight[first : first + length]


class NoPositions(nn.Module):
    """No positional encoding: zeros for every position."""

    row: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("row", torch.zeros(1, d_model), persistent=False)

    def forward(self, first: int, length: int) -> Tensor:
        """(length, d) zeros."""
        return self.row.expand(length, -1)


class TooLong(ValueError):
    """A sentence has more positions than a learned table.

    Args:
        positions: Positions of the sentence, `<s>` or `</s>` included.
        limit: Positions of the table.
    """

    def __init__(self, positions: int, limit: int) -> None:
        super().__init__(
            f"a sentence has {positions} positions, but this model has learned only {limit} (max_positions); "
            "sinusoidal positions have no limit"
        )
        self.positions, self.limit = positions, limit
