"""Lesson results: words, numbers and scenes."""
