"""Attention weights as bytes for the browser.

Up to `MAX_BYTES` a weight w travels as the uint16 round(65535 w), within 1/131070 of the true one. Beyond, it travels
as one byte relative to the largest weight of its row, so within 1/510 of that, and faint rows keep their shape; each
row then also says its largest weight and its sum, both as uint16, for the sum of many small bytes would be wrong.

Of the decoder only the lower triangle travels, row after row: what lies above is masked.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import AttentionMaps

FULL = 65_535  # the uint16 that stands for a weight of 1
MAX_BYTES = 16 * 2**20  # of weights in uint16
# A row of bytes with a larger maximum counts from 1: rounding to bytes and then to uint16 stays within 1/510 in all.
_NEARLY_FULL = 255 * 256


@dataclass(frozen=True)
class PackedWeights:
    """All weights of one translation.

    Args:
        bits: 16 or 8 for each weight.
        kinds: For each kind its shape, `offset`, the byte at which its weights start, and with 8 bits `rows`, the byte
            at which the uint16 pairs (largest weight, sum) of its rows start. `absent` lists the heads that layers of
            another program's model lack, as layer * heads + head; they travel as zeros.
        data: The bytes; what is uint16 comes first, little-endian.
    """

    bits: int
    kinds: dict[str, dict[str, Any]]
    data: npt.NDArray[np.uint8]

    @property
    def resolution(self) -> float:
        """Largest step between two neighbouring values; a value is at most half of it away from the true one."""
        return 1 / FULL if self.bits == 16 else 1 / 255

    @cached_property
    def digest(self) -> str:
        """Hash of the bytes."""
        return hashlib.blake2b(self.data.data, digest_size=12).hexdigest()


def packed_size(maps: AttentionMaps) -> int:
    """Count the bytes that `pack_weights` makes of these maps."""
    return _layout(maps)[2]


def pack_weights(maps: AttentionMaps) -> PackedWeights:
    """Return the weights of every head.

    Raises:
        ValueError: A weight is not a number from 0 to 1.
    """
    bits, kinds, size = _layout(maps)
    data = np.zeros(size, np.uint8)
    for kind in maps.kinds:
        weights = maps.weights(kind)
        absent: npt.NDArray[np.bool_] = np.asarray(np.isnan(weights).all(axis=(2, 3)))
        if absent.any():
            weights = np.where(absent[:, :, None, None], np.float32(0), weights)
            kinds[kind]["absent"] = np.flatnonzero(absent).tolist()
        # Rounding in float32 may leave a weight a hair above 1. Not-a-numbers fail both comparisons.
        if weights.size and not (weights.min() >= 0.0 and weights.max() <= 1.0 + 1e-4):
            raise ValueError("attention weights must be numbers from 0 to 1")
        shape = kinds[kind]
        count = _cells(kind, shape["queries"], shape["keys"]) * shape["heads"]  # of one layer
        for layer in range(shape["layers"]):  # one at a time, so that no large temporary arrays arise
            part = np.minimum(weights[layer], 1.0).astype(np.float64)  # (heads, queries, keys)
            if bits == 16:
                values = np.rint(part * FULL).astype("<u2")
            else:
                rows, values = _bytes_by_row(part)
                start = shape["rows"] + layer * rows.nbytes
                data[start : start + rows.nbytes] = rows.view(np.uint8).ravel()
            start = shape["offset"] + layer * count * bits // 8
            data[start : start + count * bits // 8] = _travelling(kind, values).view(np.uint8)
    return PackedWeights(bits, kinds, data)


def _bytes_by_row(weights: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint8]]:
    """(heads, queries, keys) -> (heads, queries, 2) largest weight and sum as uint16; bytes relative to the largest."""
    largest = np.ceil(weights.max(axis=-1, initial=0.0) * FULL)
    largest[largest > _NEARLY_FULL] = FULL
    sums = np.rint(np.minimum(weights.sum(axis=-1), 1.0) * FULL)
    factor = np.divide(255.0 * FULL, largest, out=np.zeros_like(largest), where=largest > 0)
    values = np.rint(weights * factor[..., None]).astype(np.uint8)
    return np.stack([largest, sums], axis=-1).astype("<u2"), values


def _travelling(kind: str, values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Flatten (heads, queries, keys) to the values that are sent, in a row."""
    if kind == "decoder":
        return values[:, np.tri(*values.shape[1:], dtype=np.bool_)].ravel()
    return values.ravel()


def _cells(kind: str, queries: int, keys: int) -> int:
    """Count the weights of one head that are sent."""
    return queries * (queries + 1) // 2 if kind == "decoder" else queries * keys


def _layout(maps: AttentionMaps) -> tuple[int, dict[str, dict[str, Any]], int]:
    """Return the bits of a weight, the shapes with their offsets, and the number of bytes."""
    kinds: dict[str, dict[str, Any]] = {}
    weights, rows = 0, 0
    for kind in maps.kinds:
        layers, heads, queries, keys = maps.weights(kind).shape
        kinds[kind] = {"layers": layers, "heads": heads, "queries": queries, "keys": keys}
        weights += layers * heads * _cells(kind, queries, keys)
        rows += layers * heads * queries
    bits = 16 if 2 * weights <= MAX_BYTES else 8
    at_rows, at_weights = 0, 0 if bits == 16 else 4 * rows
    for kind in maps.kinds:
        shape = kinds[kind]
        maps_of_kind = shape["layers"] * shape["heads"]
        if bits == 8:
            shape["rows"] = at_rows
            at_rows += 4 * maps_of_kind * shape["queries"]
        shape["offset"] = at_weights
        at_weights += maps_of_kind * _cells(kind, shape["queries"], shape["keys"]) * bits // 8
    return bits, kinds, at_weights
