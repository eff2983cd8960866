"""Lesson dot_product: words, numbers and scenes."""
