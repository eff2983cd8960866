"""The lesson decoding: words, numbers and scenes."""
