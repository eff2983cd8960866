"""What a checkpoint records about itself, as checked values."""
