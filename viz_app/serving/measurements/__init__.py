"""Measurements stored with a checkpoint, as checked values."""
