"""Batched decoding in processes of this server."""
