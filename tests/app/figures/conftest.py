"""Small maps with known weights: what they say can be read off by eye."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app.figures.samples import TOKENS, node
from tests.browser.explorer_samples import sample
from transformer_core.attention_maps import AttentionMaps, Axis
from viz_app.figures import Search, fonts

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "<s>",
    "$x$",
    "\U0001f600",
    "\u2581\u05e9\u05dc\u05d5\u05dd",
    "\u2581Donaudampfschifffahrtsgesellschaft",
    "",
    "\u2581",
    "\u2581한국어",
    "a\nb",
    "%{z} {query}",
    "x\u202ey",
    "&lt;b&gt;",
    "=1+1",
    "'quoted'",
    '"a","b"',
)


def softmax(scores: np.ndarray) -> np.ndarray:
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True), dtype=np.float32)


def axis(tokens: tuple[str, ...], special: tuple[bool, ...] | None = None) -> Axis:
    """Words start at the word boundary mark and at special tokens."""
    special = special or tuple(token in ("<s>", "</s>") for token in tokens)
    words: list[int] = []
    for i, token in enumerate(tokens):
        starts = i == 0 or special[i] or special[i - 1] or token.startswith("\u2581")
        words.append((words[-1] if words else -1) + int(starts))
    return Axis(tokens, tuple(words), special)


def make_maps(
    source: tuple[str, ...], output: tuple[str, ...], *, layers: int = 6, heads: int = 8, seed: int = 1
) -> AttentionMaps:
    return sample(list(source), list(output), layers=layers, heads=heads, seed=seed)


@pytest.fixture(autouse=True)
def no_fonts_of_this_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures have the fonts that come with the repository and no others, whatever is installed."""
    monkeypatch.setattr(fonts, "_table", dict)


@pytest.fixture
def maps() -> AttentionMaps:
    """The dog bit one man. -> Der Hund biss einen Mann., six layers of eight heads."""
    return make_maps(
        ("\u2581The", "\u2581dog", "\u2581bit", "\u2581one", "\u2581man", "."),
        ("\u2581Der", "\u2581Hu", "nd", "\u2581biss", "\u2581einen", "\u2581Mann", "."),
    )


@pytest.fixture
def hostile() -> AttentionMaps:
    """Tokens that could be taken for markup, formulas, formats or formulas of a spreadsheet."""
    return make_maps(HOSTILE, HOSTILE[::-1], layers=1, heads=2)


@pytest.fixture
def hand_made() -> AttentionMaps:
    """One layer, two heads, weights by hand: head 1 aligns, head 2 rests on </s>."""
    source = axis(("\u2581the", "\u2581dog", "</s>"))
    inputs, outputs = axis(("<s>", "\u2581der", "\u2581Hund")), axis(("\u2581der", "\u2581Hund", "</s>"))
    aligns = [[0.6, 0.3, 0.1], [0.09, 0.81, 0.1], [0.05, 0.05, 0.9]]
    rests = [[0.1, 0.1, 0.8], [0.25, 0.05, 0.7], [0.1, 0.3, 0.6]]
    causal = [[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.2, 0.5, 0.3]]
    return AttentionMaps(
        encoder=np.array([[aligns, rests]], dtype=np.float32),
        decoder=np.array([[causal, causal]], dtype=np.float32),
        cross=np.array([[aligns, rests]], dtype=np.float32),
        source=source,
        inputs=inputs,
        outputs=outputs,
    )


@pytest.fixture
def search() -> Search:
    """Two beams, three steps; the second one wins."""
    history = (
        node(-1, 1, 0, -0.1, "kept"),
        node(-1, 1, 2, -0.3, "kept"),
        node(-1, 1, 4, -3.0, "pruned"),
        node(0, 2, 1, -0.5, "kept"),
        node(1, 2, 5, -0.6, "kept"),
        node(0, 2, 4, -4.0, "pruned"),
        node(4, 3, 3, -0.7, "finished"),
        node(3, 3, 3, -0.9, "finished"),
    )
    return Search(history, best=6, text="Die 한국어", score=-0.35, token=TOKENS.__getitem__)


@pytest.fixture
def small() -> AttentionMaps:
    """One layer of two heads: files of every kind are made quickly."""
    source, output = ("\u2581the", "\u2581dog", "\u2581barks"), ("\u2581der", "\u2581Hund", "\u2581bellt")
    return make_maps(source, output, layers=1, heads=2)
