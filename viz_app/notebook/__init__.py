"""Results in a notebook: small by themselves, the explorer in a frame."""
