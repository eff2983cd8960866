"""Where a piece stands in its sentence (Section 3.5).

Shape legend: n positions, d = d_model.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def sinusoidal_positions(length: int, d_model: int, device: torch.device | None = None) -> Tensor:
    """(n, d) float32: PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d))."""
    positions = torch.arange(length, dtype=torch.float64, device=device)[:, None]  # (n, 1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64, device=device)  # 2i, (d/2,)
    angles = positions * torch.exp(even * (-math.log(10_000.0) / d_model))  # (n, d/2)
    table = torch.empty(length, d_model, dtype=torch.float64, device=device)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table.float()


class SinusoidalPositions(nn.Module):
    """Hands out rows of the table of sines and cosines; the table grows when a longer sentence comes."""

    table: Tensor

    def __init__(self, d_model: int, length: int = 512) -> None:
        super().__init__()
        self.register_buffer("table", sinusoidal_positions(length, d_model), persistent=False)

    def forward(self, first: int, length: int) -> Tensor:
        """(length, d) rows of positions first, first + 1, ..."""
        if first + length > self.table.shape[0]:
            grown = max(first + length, 2 * self.table.shape[0])
            self.table = sinusoidal_positions(grown, self.table.shape[1], self.table.device)
        return self.table[first : first + length]
