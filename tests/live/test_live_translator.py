"""The browser's translator gives what Python gives: tokens, searches, maps, payloads, translations without heads."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.live.expected import Expected, random_texts, shipped_sentences
from transformer_core.checkpoint import save_checkpoint
from transformer_core.config import DecodingConfig, ModelConfig
from transformer_core.model.transformer import Transformer
from transformer_core.text.tokenizer import Tokenizer
from viz_app.text.examples import EXAMPLES

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "checkpoints" / "en-fr-small"
HARD = (
    "The old dog sleeps in the garden, and the cat eats a fish.",
    "I don't know what \u2603 means, \u6f22\u5b57 neither.",
    "\u201cWhy?\u201d she asked \u2013 and he didn\u2019t answer\u2026",
    "He paid \u20ac3,50 for \u00bd a kilo of tomatoes in 1998.",
    "The Stra\u00dfe in Z\u00fcrich isn't caf\u00e9-like.",
    "Yes.",
)
Compare = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def compare(node: str) -> Compare:
    """Ask JavaScript the same; return how much was compared."""

    def run(folder: Path, mode: str = "") -> dict[str, Any]:
        command = [node, str(Path(__file__).with_name("compare.js")), str(folder), mode]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=600, check=False)
        assert done.returncode == 0, done.stderr[-4000:]
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    return run


def write_all(folder: Path, checkpoint: Path, sentences: list[str], texts: int) -> Expected:
    expected = Expected(folder, checkpoint)
    expected.texts([*random_texts(texts), *sentences, *HARD, " ", "", "\uac1c", "word " * 400])
    expected.searches([*sentences, *HARD])
    expected.searches([*sentences[:20], *HARD], beam=1)
    expected.maps([*sentences[:8], *HARD])
    expected.payloads([*sentences[:4], *HARD[:4]], branches=(0, 1, 3, 9))
    heads = [[(kind, layer, head)] for kind in ("encoder", "decoder", "cross") for layer, head in ((0, 1), (1, 0))]
    expected.off(HARD[0], [*heads, [place for group in heads for place in group]])
    return expected


def test_the_shipped_model(tmp_path: Path, compare: Compare) -> None:
    expected = write_all(tmp_path, SMALL, shipped_sentences(SMALL), 2_000)
    translator = expected.translator
    begun = [translator.encode_target(text).ids for text in ("Le vieux", "Un", "Les chiens \u2603")]
    ended = (*translator.encode_target("Je ne sais pas.").ids, translator.tokenizer.special.eos)
    expected.searches(HARD[:4], prefixes=[*begun, ended])
    found = compare(expected.write())
    assert found["texts"] > 2_300 and found["searches"] > 320 and found["nodes"] > 20_000
    assert found["levels"] < 0.01 * found["cells"]
    print(found)
