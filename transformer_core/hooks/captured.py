"""Values recorded by a `capture`; means over them leave out padding.

Shape legend: B rows of the batch, H heads, n positions, x width of a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import torch
from torch import Tensor

from transformer_core.hooks.short_addresses import Place, captured_place, short_names

_MASK = "_headlight_mask"  # an attribute of captured tensors


class Captured(Mapping[str, Tensor]):
    """Mapping from address, long or short, to the value of the last pass.

    Attributes:
        calls: Long address -> the values of all passes in order, such as one for each step of decoding.
    """

    def __init__(self, calls: dict[str, list[Tensor]] | None = None) -> None:
        self.calls: dict[str, list[Tensor]] = calls or {}

    def add(self, address: str, value: Tensor, mask: Tensor | None) -> None:
        """Record the value of one more pass; mask (B, n) is True where a position is no padding."""
        if mask is not None:
            value.__dict__[_MASK] = mask
        self.calls.setdefault(address, []).append(value)

    @property
    def grad(self) -> Captured:
        """Gradients that `backward` has left at the values of `capture(..., grad=True)`, by address."""
        gradients = Captured()
        for address, values in self.calls.items():
            for value in values:
                if value.grad is not None:
                    gradients.add(address, value.grad, mask_of(value))
        return gradients

    def mean(self, address: str) -> Tensor:
        """Return the mean over passes, rows and positions without padding: (H, x), or (x,) where there are no heads.

        Padding is known to passes of a `Translator`. `model(...)` needs `target_mask` for padded targets.
        """
        place = self.place(address)
        mean = mean_vector(self.calls[place.address])
        return mean if place.head is None else mean[place.head]

    def place(self, address: str) -> Place:
        """Return where an address leads, by default to weights. Raises AddressError if nothing was captured there."""
        return Place(address, address) if address in self.calls else captured_place(address, self.calls)

    def __getitem__(self, address: str) -> Tensor:
        place = self.place(address)
        value = self.calls[place.address][-1]
        return value if place.head is None else value[:, place.head]

    def __iter__(self) -> Iterator[str]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)

    def __repr__(self) -> str:
        names = short_names(self)
        lines = [f"{names[address]} {tuple(self[address].shape)}" for address in list(self)[:3]]
        return f"<Captured: {len(self)} addresses: {', '.join(lines)}{', ...' if len(self) > 3 else ''}>"


def mask_of(value: Tensor) -> Tensor | None:
    """Return (B, n), True where a position of a captured value is no padding; None where nothing is known of padding.

    Only the captured tensor itself knows its mask, not what is computed from it.
    """
    mask: Tensor | None = getattr(value, _MASK, None)
    return mask


def vectors_of(value: Tensor) -> Tensor:
    """Return the vectors at the N positions without padding: (B, H, n, x) -> (N, H, x), or (B, n, x) -> (N, x)."""
    vectors, mask = value.movedim(-2, 1), mask_of(value)  # (B, n, H, x) or (B, n, x)
    return vectors.flatten(0, 1) if mask is None else vectors[mask.to(value.device)]


def mean_vector(values: Iterable[Tensor]) -> Tensor:
    """Return the mean of `vectors_of` captured values. Raises ValueError if there are none."""
    vectors = [vectors_of(value) for value in values]
    if not vectors:
        raise ValueError("no captured values to take the mean of")
    return torch.cat(vectors).mean(dim=0)
