"""Parts of the pages Lessons and Lab."""
