"""How long a translation may become (Section 6.1).

Shape legend: B sentences, S source positions.
"""

from __future__ import annotations

from torch import Tensor


def length_limits(source_mask: Tensor, extra_length: int, longest: int | None) -> Tensor:
    """Pieces that each translation may have at most, `</s>` included.

    Args:
        source_mask: (B, 1, 1, S), True where a source position is no padding; each source ends with `</s>`.
        extra_length: Pieces more than the source has.
        longest: Positions that the decoder knows; None where there is no limit.

    Returns:
        (B,) whole numbers.
    """
    limits = source_mask.sum(dim=-1).flatten() - 1 + extra_length
    return limits if longest is None else limits.clamp(max=longest)
