"""Models that visitors open while the server runs."""
