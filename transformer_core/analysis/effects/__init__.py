"""Effects of heads, sub-layers, layers and words on the log-probability of a translation."""
