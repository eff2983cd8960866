"""Headlight's core: the Transformer of "Attention Is All You Need", with every attention head open to hooks."""
