"""Lesson positions: words, numbers and scenes."""
