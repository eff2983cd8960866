"""The attention explorer: a byte buffer (`payload.py`) that one browser component draws (`mount.py`)."""
