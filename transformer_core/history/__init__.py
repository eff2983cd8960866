"""Training history: snapshots of a training, and the development of heads and BLEU over them."""
