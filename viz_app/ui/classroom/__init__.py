"""Parts of the page of a class."""
