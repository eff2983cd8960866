"""The lesson results: words, numbers and scenes."""
