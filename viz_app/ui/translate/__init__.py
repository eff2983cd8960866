"""Parts of the page Translate."""
