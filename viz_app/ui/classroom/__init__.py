"""Class controls on all pages."""
