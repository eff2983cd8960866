"""Lesson decoding: words, numbers and scenes."""
