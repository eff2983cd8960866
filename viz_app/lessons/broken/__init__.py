"""Lesson broken: words, numbers and scenes."""
