"""The lesson dot_product: words, numbers and scenes."""
