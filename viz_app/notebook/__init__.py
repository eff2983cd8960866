"""Results in a notebook: small by themselves, the explorer in a frame, or a widget that Python reads and sets."""
