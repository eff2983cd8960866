"""Lesson warmup: words, numbers and scenes."""
