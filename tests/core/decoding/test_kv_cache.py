"""The cache as a container: growing, reordering, forgetting. What it computes is tested in test_incremental.py."""

from __future__ import annotations

import torch
from torch import Tensor

from transformer_core.decoding.kv_cache import CrossKV, KVCache


def cache_of(rows: int, sentences: int, capacity: int = 1) -> KVCache:
    """Two layers, one head, d_k = 1 and d_v = 2; the source keys of sentence b are all b."""
    sources = [
        CrossKV(
            torch.arange(sentences, dtype=torch.float32).view(-1, 1, 1, 1).expand(-1, 1, 3, 1).clone(),
            torch.zeros(sentences, 1, 3, 2),
        )
        for _ in range(2)
    ]
    return KVCache(
        sources,
        torch.arange(3) < torch.arange(1, sentences + 1)[:, None, None, None],  # 1, 2, 3, 3, ... real positions
        torch.full((2, rows, 1, capacity, 1), torch.nan),
        torch.full((2, rows, 1, capacity, 2), torch.nan),
    )


def write(cache: KVCache, marks: list[float]) -> list[Tensor]:
    """Append one position: key = mark + layer / 10, values = its negative; returns the live keys of each layer."""
    live = []
    for layer in range(2):
        keys = torch.tensor(marks).view(-1, 1, 1, 1) + layer / 10
        got_keys, got_values = cache.append(layer, keys, -keys.expand(-1, 1, 1, 2))
        torch.testing.assert_close(got_values, -got_keys.expand(-1, 1, -1, 2))
        live.append(got_keys[:, 0, :, 0])
    cache.length += 1
    return live


def test_finished_sentences_are_dropped() -> None:
    cache = cache_of(rows=6, sentences=3, capacity=2)
    write(cache, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    cache.keep_sentences([0, 2])
    cache.reorder(torch.tensor([1, 0, 5, 4]))
    mask = cache.source_mask
    assert mask is not None
    assert mask[:, 0, 0].tolist() == [[True, False, False], [True, True, True]]
    for source in cache.sources:
        assert source.keys[:, 0, 0, 0].tolist() == [0.0, 2.0]
        assert source.values.shape[0] == 2
    live = write(cache, [9.0] * 4)
    torch.testing.assert_close(live[0], torch.tensor([[1.0, 9.0], [0.0, 9.0], [5.0, 9.0], [4.0, 9.0]]))
    live = write(cache, [8.0] * 4)  # and it still grows
    assert live[1].shape == (4, 3)


def test_no_mask_is_kept_without_padding() -> None:
    cache = cache_of(rows=3, sentences=3)
    for left, padding in (([1, 2], True), ([1], False), ([0], False)):
        cache.keep_sentences(left)
        assert (cache.source_mask is not None) == padding
    assert cache.sources[0].keys[:, 0, 0, 0].tolist() == [2.0]
