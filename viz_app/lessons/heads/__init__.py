"""The lesson heads: words, numbers and scenes."""
