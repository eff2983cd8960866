"""Bound of the numbers that a page holds."""

from __future__ import annotations

MAX_BYTES = 64_000_000  # of maps and arrays; compressed and as text they have about 0.7 of that


class PageTooLarge(ValueError):
    """A page over its limit; the message says its size and the limit."""


def check_size(size: int) -> None:
    """Raise PageTooLarge for too many bytes of numbers."""
    if size > MAX_BYTES:
        raise PageTooLarge(f"the page has {size / 1e6:,.0f} MB of numbers, but may have {MAX_BYTES / 1e6:,.0f} MB")
