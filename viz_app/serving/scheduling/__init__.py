"""Queue, fair turns, rate limits, cache."""
