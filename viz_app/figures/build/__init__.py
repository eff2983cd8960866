"""From attention maps to figures: one builder for each view."""
