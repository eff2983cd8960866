"""Faster twins of plain PyTorch for processors; each names the plain form that it equals."""
