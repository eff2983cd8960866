"""What a checkpoint tells of itself: scores, measurements, the history of its heads."""
