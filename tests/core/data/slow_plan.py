"""The plan of an epoch, pair by pair: the readable twin of `plan_epoch`, and the order that saved trainings go by."""

from __future__ import annotations

import numpy as np


def slow_plan(
    lengths: list[tuple[int, int]],
    batch_tokens: int,
    max_tokens: int,
    seed: int,
    epoch: int,
    widths: tuple[int, ...] = (),
) -> list[list[int]]:
    """As `plan_epoch`."""

    def padded(index: int) -> int:
        longest = max(lengths[index]) + 1
        return next((width for width in widths if width >= longest), longest)

    rng = np.random.default_rng((seed, epoch))
    usable = [i for i, pair in enumerate(lengths) if max(pair) <= max_tokens and max(pair) + 1 <= batch_tokens]
    shuffled = rng.permutation(np.array(usable)).tolist()
    order = sorted(shuffled, key=lambda i: (lengths[i][1], lengths[i][0]))  # stable
    batches: list[list[int]] = []
    for index in order:
        together = [*batches[-1], index] if batches else []
        if together and max(map(padded, together)) * len(together) <= batch_tokens:
            batches[-1].append(index)
        else:
            batches.append([index])
    return [batches[i] for i in rng.permutation(len(batches))]
