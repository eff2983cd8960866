"""Snapshots of a training run, and how heads and BLEU developed over them."""
