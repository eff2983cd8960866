"""One file a page: widgets in, one call, figures out."""
