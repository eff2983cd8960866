"""Lesson architecture: words, numbers and scenes."""
