"""Commands on a sentence or a file of them: what heads and layers do, as arrays or a table."""
