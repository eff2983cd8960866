"""Lesson subwords: words, numbers and scenes."""
