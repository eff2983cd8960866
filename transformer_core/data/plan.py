"""Plan of an epoch: pairs of similar lengths share a batch, in an order drawn from seed and epoch (Section 5.1).

A plan has no text. It takes about 20 bytes per pair while it is made, and 4 bytes per pair afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from transformer_core.data.text import DataError

PLAN_VERSION = 1  # changes whenever the same seed would give other batches; a saved training notes it

Lengths = npt.NDArray[np.uint16] | npt.NDArray[np.int32] | npt.NDArray[np.int64]
Plan = list[npt.NDArray[np.uint32]]


def plan_epoch(
    lengths: Lengths, batch_tokens: int, max_tokens: int, seed: int, epoch: int, widths: Sequence[int] = ()
) -> Plan:
    """Plan the batches of one epoch: pairs of similar lengths together, in an order drawn from the seed.

    Args:
        lengths: (pairs, 2) tokens of source and target.
        batch_tokens: Maximum of padded source tokens in a batch, and of padded target tokens, `</s>` included.
        max_tokens: Longer pairs are left out.
        seed: With the epoch, determines everything.
        epoch: Counted from 0.
        widths: Rising widths that batches will be padded to (see `bucket_widths`); none means to their longest pair.

    Returns:
        For each batch, the numbers of its pairs.

    Raises:
        DataError: Nothing is left to train on.
    """
    rng = np.random.default_rng((seed, epoch))
    longest = np.maximum(lengths[:, 0], lengths[:, 1])
    limit = min(max_tokens, batch_tokens - 1)
    assert not widths or limit < widths[-1]
    order = np.arange(len(lengths), dtype=np.uint32)[longest <= limit]
    if len(order) == 0:
        raise DataError(f"no pair has at most {max_tokens} tokens and fits into a batch of {batch_tokens} tokens")
    rng.shuffle(order)
    order = order[_by_length(lengths, order, limit)]
    padded = longest[order].astype(np.int32) + 1  # with </s>
    starts = _starts(padded, batch_tokens, np.asarray(widths, dtype=np.int64))
    ends = [*starts[1:], len(order)]
    return [order[starts[i] : ends[i]] for i in rng.permutation(len(starts))]


def bucket_widths(longest: int) -> list[int]:
    """Return the few widths that batches are padded to where every new shape costs a compilation.

    Multiples of 8, as tensor cores like them, each about an eighth wider than the one before; the last one holds
    `longest` positions.
    """
    widths = [8]
    while widths[-1] < longest:
        widths.append(max(widths[-1] + 8, 8 * math.ceil(widths[-1] * 1.125 / 8)))
    return widths


def _by_length(lengths: Lengths, shuffled: npt.NDArray[np.uint32], limit: int) -> npt.NDArray[np.uint32]:
    """Return positions in `shuffled`, by target length, then source length, then as they come.

    One number holds all three, so that sorting needs no memory but its own; a stable sort of the two lengths is the
    readable twin.
    """
    position_bits, length_bits = len(shuffled).bit_length(), limit.bit_length()
    if position_bits + 2 * length_bits > 64:
        raise DataError(f"too many pairs ({len(shuffled)}) for sentences of up to {limit} tokens; lower max_tokens")
    keys = np.arange(len(shuffled), dtype=np.uint64)
    keys |= lengths[shuffled, 0].astype(np.uint64) << np.uint64(position_bits)
    keys |= lengths[shuffled, 1].astype(np.uint64) << np.uint64(position_bits + length_bits)
    keys.sort()
    keys &= np.uint64((1 << position_bits) - 1)
    return keys.astype(np.uint32)


def _starts(padded: npt.NDArray[np.int32], batch_tokens: int, widths: npt.NDArray[np.int64]) -> list[int]:
    """Return the start of each batch, when each takes as many pairs as fit.

    Args:
        padded: (n,) positions that each pair needs, in the order of the pairs.
        batch_tokens: Rows times width of a batch at most.
        widths: Rising widths that batches are padded to; empty for any width.
    """
    starts, start = [], 0
    while start < len(padded):
        starts.append(start)
        room = padded[start : start + batch_tokens // int(padded[start])]  # no more rows fit than at this width
        widest = np.maximum.accumulate(room)
        if len(widths):
            widest = widths[np.searchsorted(widths, widest)]
        # Rows times width only grows, so the first pair too many can be searched for; one pair always fits.
        start += max(1, int(np.searchsorted(widest * np.arange(1, len(room) + 1), batch_tokens, side="right")))
    return starts
