"""How many requests an address may make."""

from __future__ import annotations

from viz_app.serving.scheduling import rate_limit
from viz_app.serving.scheduling.rate_limit import RateLimit


def test_a_burst_passes_then_so_many_a_second() -> None:
    now = [0.0]
    limit = RateLimit(2, 5, lambda: now[0])
    assert [limit.allows("a") for _ in range(7)] == [True] * 5 + [False] * 2
    now[0] = 1.0
    assert [limit.allows("a") for _ in range(3)] == [True, True, False]
    assert limit.allows("b")  # others are not held up
    now[0] = 1_000.0
    assert sum(limit.allows("a") for _ in range(10)) == 5  # nobody saves up


def test_few_addresses_are_remembered() -> None:
    limit = RateLimit(1, 1, lambda: 0.0)
    for number in range(rate_limit._MAX_ADDRESSES + 10):
        assert limit.allows(str(number))
    assert len(limit._buckets) == rate_limit._MAX_ADDRESSES
    assert not limit.allows(str(number))
