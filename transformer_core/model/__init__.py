"""The paper, top to bottom: attention, layers, the Transformer."""
