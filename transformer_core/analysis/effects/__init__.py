"""Effects of heads and other parts on the log-probability of a translation."""
