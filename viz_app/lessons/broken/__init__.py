"""The lesson broken: words, numbers and scenes."""
