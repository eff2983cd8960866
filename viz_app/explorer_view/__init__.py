"""From a translation and a selection to what the explorer shows."""
