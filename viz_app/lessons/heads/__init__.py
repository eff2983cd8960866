"""Lesson heads: words, numbers and scenes."""
