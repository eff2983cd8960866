"""Session files: save, open."""
