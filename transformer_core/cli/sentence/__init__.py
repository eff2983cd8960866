"""Commands on one sentence: what its heads and layers do, as arrays in a file."""
