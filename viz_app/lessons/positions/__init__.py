"""The lesson positions: words, numbers and scenes."""
