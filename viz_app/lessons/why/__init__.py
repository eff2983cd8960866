"""Lesson why: words, numbers and scenes."""
