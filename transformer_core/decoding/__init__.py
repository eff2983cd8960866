"""From probabilities to a translation: the key/value cache, greedy search, beam search."""
