"""The paper, top to bottom: attention, layers, the Transformer."""

from transformer_core import renamed

__getattr__ = renamed.names_of("model", only=("Transformer",))
