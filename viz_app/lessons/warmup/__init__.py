"""The lesson warmup: words, numbers and scenes."""
