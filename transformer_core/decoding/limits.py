"""Length limits of translations (Section 6.1).

Shape legend: B sentences, S source positions.
"""

from __future__ import annotations

from torch import Tensor


def length_limits(source_mask: Tensor, extra_length: int, longest: int | None) -> Tensor:
    """Maximum tokens of each translation, `</s>` included.

    Args:
        source_mask: (B, 1, 1, S), True where a source position is no padding; each source ends with `</s>`.
        extra_length: Tokens beyond the length of the source.
        longest: Positions that the decoder has; None for no limit.

    Returns:
        (B,) whole numbers.
    """
    limits = source_mask.sum(dim=-1).flatten() - 1 + extra_length
    return limits if longest is None else limits.clamp(max=longest)
