"""Maps for the browser tests of the explorer: made up by a formula, so that the tests need no trained model."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import WORD_BOUNDARY, AttentionMaps, Axis
from viz_app.components.explorer.payload import Step

LAYERS, HEADS = 6, 8
SENTENCE = (
    ["▁A", "▁brown", "▁dog", "▁is", "▁run", "ning", "▁through", "▁the", "▁snow", "."],
    ["▁Ein", "▁bra", "uner", "▁Hund", "▁läuft", "▁durch", "▁den", "▁Schnee", "."],
)
OTHER = (
    ["▁She", "▁gave", "▁him", "▁the", "▁book", "▁that", "▁he", "▁had", "▁for", "gotten", "."],
    ["▁Sie", "▁gab", "▁ihm", "▁das", "▁Buch", ",", "▁das", "▁er", "▁ver", "gessen", "▁hatte", "."],
)
HOSTILE = (
    ["▁</script><img src=x onerror=alert(1)>", "▁<b>bold</b>", "▁the", "▁the", "▁🙂", "▁" + "z" * 60, "▁مرحبا"],
    ["▁<b>", "▁</script><img src=x onerror=alert(1)>", "▁{query}", "▁안녕", "▁🙂👩‍👩‍👧", "▁שלום", "▁" + "y" * 60],
)
EDIT = (
    [*SENTENCE[0][:2], "▁little", *SENTENCE[0][2:]],
    [*SENTENCE[1][:3], "▁kleiner", "▁Hund"],
)


def axis(tokens: list[str], *, first: str | None = None, last: str | None = None) -> Axis:
    """An axis over tokens; a token with a word boundary, a full stop or a special token starts a word."""
    every = [*([first] if first else []), *tokens, *([last] if last else [])]
    special = [token in ("<s>", "</s>") for token in every]
    words: list[int] = []
    for token in every:
        starts = token.startswith(WORD_BOUNDARY) or token in ("<s>", "</s>") or not words
        words.append((words[-1] if words else -1) + int(starts))
    return Axis(tuple(every), tuple(words), tuple(special))


def sample(
    source: list[str],
    target: list[str],
    *,
    seed: int = 1,
    finished: bool = True,
    layers: int = LAYERS,
    heads: int = HEADS,
) -> AttentionMaps:
    """Softmax of scores that look like real heads: some follow the diagonal, some look back, some rest on one token."""
    source_axis = axis(source, last="</s>")
    outputs = axis(target, last="</s>" if finished else None)
    inputs = axis(target if finished else target[:-1], first="<s>")
    generator = np.random.default_rng(seed)
    shapes = {"encoder": (source_axis, source_axis), "decoder": (inputs, inputs), "cross": (outputs, source_axis)}
    weights = {
        kind: _weights((layers, heads, len(q), len(k)), generator, causal=kind == "decoder")
        for kind, (q, k) in shapes.items()
    }
    return AttentionMaps(source=source_axis, inputs=inputs, outputs=outputs, finished=finished, **weights)


def unequal_sample(*, seed: int = 5) -> AttentionMaps:
    """Encoder and decoder of different depth, each kind with its own number of heads.

    The third source token and the second generated one look nowhere: their rows are masked from end to end.
    """
    maps = sample(*SENTENCE, seed=seed)
    encoder, cross = maps.encoder[:3, :4].copy(), maps.cross[:2, :5].copy()
    encoder[:, :, 2] = 0.0
    cross[:, :, 1] = 0.0
    return dataclasses.replace(maps, encoder=encoder, decoder=maps.decoder[:2, :2], cross=cross)


def _weights(
    shape: tuple[int, int, int, int], generator: np.random.Generator, *, causal: bool
) -> npt.NDArray[np.float32]:
    """(layers, heads, queries, keys); rows sum to 1."""
    queries, keys = shape[2:]
    heads = (*shape[:2], 1, 1)
    q = np.arange(queries)[:, None] * (keys / queries)
    k = np.arange(keys)[None, :]
    shift = generator.integers(-2, 3, size=heads)
    sharp = generator.uniform(0.0, 2.2, size=heads) * (generator.random(heads) < 0.75)
    rest = generator.uniform(0.0, 5.0, size=heads) * (generator.random(heads) < 0.3)
    scores = -sharp * np.abs(q + shift - k) + rest * (k == keys - 1)
    scores = scores + generator.normal(0.0, 0.8, size=shape)
    if causal:
        scores = np.where(np.arange(keys)[None, :] > np.arange(queries)[:, None], -np.inf, scores)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    normalised: npt.NDArray[np.float32] = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    return normalised


def few_heads_sample(tokens: int) -> AttentionMaps:
    """Many tokens, but few heads, so that a test need not wait for megabytes."""
    source, inputs, outputs = long_axes(tokens)
    weights = np.random.default_rng(4).random((3, 2, 2, tokens, tokens), dtype=np.float32) ** 40 + np.float32(1e-4)
    weights[1] *= np.tri(tokens, dtype=np.float32)
    encoder, decoder, cross = weights / weights.sum(-1, keepdims=True)
    return AttentionMaps(encoder=encoder, decoder=decoder, cross=cross, source=source, inputs=inputs, outputs=outputs)


def confidences(maps: AttentionMaps, *, seed: int = 2) -> list[Step]:
    """A probability and three runner-up tokens for each written token."""
    generator = np.random.default_rng(seed)
    steps = []
    for _ in maps.outputs.tokens:
        best = float(generator.uniform(0.3, 0.99))
        shares = (1.0 - best) * np.array([0.5, 0.2, 0.1])
        steps.append(Step(best, tuple(zip(("▁der", "▁<i>eine</i>", "lich"), shares.tolist(), strict=True))))
    return steps


def error_rates(maps: AttentionMaps, *, seed: int = 4) -> list[list[float]]:
    """An alignment error rate for each encoder-decoder head."""
    rates: list[list[float]] = np.random.default_rng(seed).uniform(0.3, 0.9, size=maps.cross.shape[:2]).tolist()
    return rates


def long_sample(tokens: int, *, seed: int = 3, layers: int = LAYERS, heads: int = HEADS) -> AttentionMaps:
    """Maps with so many tokens on each side, special tokens included."""
    return sample(*long_tokens(tokens), seed=seed, layers=layers, heads=heads)


def long_tokens(tokens: int) -> tuple[list[str], list[str]]:
    """Tokens of both sides; every third one belongs to the word before."""
    source = [f"▁word{i}" if i % 3 else f"token{i}" for i in range(tokens - 1)]
    target = [f"▁Wort{i}" if i % 3 else f"teil{i}" for i in range(tokens - 1)]
    return source, target


def long_axes(tokens: int) -> tuple[Axis, Axis, Axis]:
    """Source, inputs and outputs over these tokens."""
    source, target = long_tokens(tokens)
    return axis(source, last="</s>"), axis(target, first="<s>"), axis(target, last="</s>")
