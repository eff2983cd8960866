"""Registry, loader and translation service."""
