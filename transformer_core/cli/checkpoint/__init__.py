"""Commands that make, measure and export a checkpoint."""
