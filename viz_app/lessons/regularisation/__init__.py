"""Lesson regularisation: words, numbers and scenes."""
