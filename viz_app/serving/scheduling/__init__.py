"""Queue, fair turns, rate limits, cache: who runs when."""
