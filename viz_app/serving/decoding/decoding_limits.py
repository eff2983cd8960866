"""Limits of decoding: size and lengths of a batch, memory and time."""

from __future__ import annotations

from collections.abc import Sized

from transformer_core.attention_maps import map_bytes
from transformer_core.config import ModelConfig

DEADLINE = 60.0  # seconds of work on one request; the longest sentence takes 3 on one core
MAX_MAP_BYTES = 256 * 2**20  # of one translation; the longest one of the shipped model takes a sixth
MAX_BATCH_SIZE = 32  # sentences of a batch
MAX_QUEUED = 1024  # requests that wait for a replica of a model server; it refuses more, and the front end asks again

_LONGER = 2  # how many times as long as the shortest sentence of a batch the longest one may be
_SHORT = 12  # tokens; shorter sentences count as this long
_MAX_BYTES = 128 * 2**20  # of the attention maps of a batch


def same_bucket(one: Sized, other: Sized) -> bool:
    """Return whether sentences may share a batch: none waits long for the other."""
    short, long = sorted(max(len(each), _SHORT) for each in (one, other))
    return long <= _LONGER * short


def max_batch_length(tokens: int) -> int:
    """Return the tokens of the longest sentence that may share a batch with one of `tokens` tokens."""
    return _LONGER * max(tokens, _SHORT)


def length_class(tokens: int) -> int:
    """Return the class of a sentence of `tokens` tokens, named after its longest one: 12, 24, 48, ...

    Any two sentences of a class may share a batch.
    """
    longest = _SHORT
    while longest < tokens:
        longest *= _LONGER
    return longest


def max_batch_size(config: ModelConfig, longest: int) -> int:
    """Return how many sentences of `longest` tokens a batch may have until their maps fill the memory; at least 1."""
    maps = map_bytes(config.num_layers * config.num_heads, longest, longest)
    return max(1, min(MAX_BATCH_SIZE, _MAX_BYTES // maps))
