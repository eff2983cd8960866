"""The lesson why: words, numbers and scenes."""
