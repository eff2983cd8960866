"""Parts of the page Lessons and of the Lab."""
