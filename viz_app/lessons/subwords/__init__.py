"""The lesson subwords: words, numbers and scenes."""
