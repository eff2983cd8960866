"""The lesson architecture: words, numbers and scenes."""
