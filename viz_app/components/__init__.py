"""Browser components: JavaScript, CSS and a few lines of Python each."""
