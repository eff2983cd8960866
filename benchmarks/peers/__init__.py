"""Other implementations with the same weights."""
