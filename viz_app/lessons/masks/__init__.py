"""The lesson masks: words, numbers and scenes."""
