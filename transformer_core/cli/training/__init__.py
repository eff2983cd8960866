"""Commands that prepare text, train, and read a training run."""
