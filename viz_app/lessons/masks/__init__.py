"""Lesson masks: words, numbers and scenes."""
