"""The lesson regularisation: words, numbers and scenes."""
