"""Model card: scores, measurements, the history of the heads."""
