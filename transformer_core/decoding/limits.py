"""Length limits of translations (Section 6.1)."""

from __future__ import annotations

from collections.abc import Sequence


def length_limits(source_lengths: Sequence[int], extra_length: int, longest: int | None) -> list[int]:
    """Maximum tokens of each translation, `</s>` included.

    Args:
        source_lengths: Tokens of each source, `</s>` included.
        extra_length: Tokens beyond the length of the source.
        longest: Positions that the decoder has; None for no limit.
    """
    limits = [length - 1 + extra_length for length in source_lengths]
    return limits if longest is None else [min(limit, longest) for limit in limits]
