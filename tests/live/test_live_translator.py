"""The browser's translator gives what Python gives: tokens, searches, maps, flows, translations without heads."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.live.expected import Expected, random_texts, shipped_sentences
from transformer_core.analysis.ablation import all_heads
from transformer_core.checkpoint import save_checkpoint
from transformer_core.config import DecodingConfig, ModelConfig
from transformer_core.head import head_named
from transformer_core.model.transformer import Transformer
from transformer_core.text.length_limits import MAX_EXPANSION
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
REFUSED = ("", " \x1c ", "\uac1c\ub294 \uc794\ub2e4.", "word " * 400, "\u00e9" * 4_001, "\U0001f300" * 2_500)
Compare = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def compare(node: str) -> Compare:
    """Ask JavaScript the same; return how much was compared."""

    def run(folder: Path, mode: str = "") -> dict[str, Any]:
        command = [node, str(Path(__file__).with_name("compare.js")), str(folder), mode]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=600, check=False)
        assert done.returncode == 0, done.stderr[-4000:]
        data: dict[str, Any] = json.loads(done.stdout)
        return data

    return run


def write_all(folder: Path, checkpoint: Path, sentences: Sequence[str], texts: int, language: str = "en") -> Expected:
    expected = Expected(folder, checkpoint, language)
    expected.texts([*random_texts(texts), *sentences, *HARD, *REFUSED])
    expected.searches([*sentences[::2], *HARD])
    expected.searches(sentences[1::2], beam=2)
    expected.searches(HARD, beam=1)
    expected.maps(HARD)
    expected.payloads(HARD[:3], branches=(0, 1, 9))
    heads = [*map(head_named, ("encoder.1.2", "decoder.2.1", "cross.2.2"))]
    expected.off(HARD[0], [*([head] for head in heads), heads])
    expected.effects(HARD[5])
    prefixes = [expected.translator.encode_target(text).ids[:3] for text in ("Le vieux", "Un", "Les chiens \u2603")]
    ended = (*prefixes[0], expected.translator.tokenizer.special.eos)
    expected.searches(HARD[:4], prefixes=[*prefixes, ended])
    long, begun = (HARD[1], HARD[0]) if checkpoint.is_relative_to(ROOT) else (HARD[4], HARD[5])  # drawn: long
    for branch, sentence in ((0, long), (1, HARD[5]), (9, HARD[4])):
        expected.flows(sentence, branch=branch)
    expected.flows(begun, prefix=prefixes[0])
    for at, against in ((0, 44), (2, expected.translator.tokenizer.special.eos)):
        expected.flows(HARD[0], at=at, against=expected.translator.tokenizer.token(against))
    return expected


def check(result: dict[str, Any], texts: int, searches: int, nodes: int) -> None:
    """The comparison went over as much as it should."""
    assert result["texts"] >= texts and result["searches"] >= searches and result["nodes"] >= nodes
    assert result["ties"] <= 3
    assert result["maps"] == len(HARD) and result["payloads"] == 9 and result["off"] == 4
    assert result["effects"] >= 18
    assert result["flows"] == 6 and result["ways"] > 1_000
    assert result["levels"] < 0.01 * result["cells"]  # levels of a weight that differ, by one


def test_limits_are_those_of_python(javascript: Callable[[str], Any]) -> None:
    script = 'import { MAX_EXPANSION } from "./components/live/js/normalizer.js"; console.log(MAX_EXPANSION);'
    assert javascript(script) == MAX_EXPANSION


def test_the_shipped_model(tmp_path: Path, compare: Compare) -> None:
    expected = write_all(tmp_path, SMALL, shipped_sentences(SMALL)[:40], 1_000)
    check(compare(expected.write()), 1_040, 40, 2_000)


# Sizes that fill neither the rows nor the columns of the kernel, and every option that it runs.
ODD: dict[str, dict[str, Any]] = {
    "untied": {"tie": "none", "attention_biases": True, "output_bias": True, "first_position": 2, "d_model": 18},
    "target": {"tie": "target", "scaled": False, "scaled_embeddings": False, "d_model": 22, "layer_norm_epsilon": 0.01},
    "all": {"d_model": 10},
}
SEARCHES: dict[str, dict[str, Any]] = {
    "untied": {"length_penalty": "power", "alpha": 1.1, "min_length": 3, "alternatives": 2, "extra_length": 9},
    "target": {"early_stopping": True, "alternatives": 12, "extra_length": 7},
    "all": {"alpha": 0.0, "extra_length": 5},
}


def draw(folder: Path, options: dict[str, Any], decoding: dict[str, Any]) -> Path:
    """Save a model with random weights, large enough that no two tokens are nearly as likely."""
    tokenizer = Tokenizer.train(EXAMPLES.values(), vocab_size=121, threads=1)
    sizes: dict[str, Any] = {"num_heads": 3, "d_k": 5, "d_v": 7, "d_ff": 13, "num_layers": 2}
    config = ModelConfig(vocab_size=len(tokenizer), **sizes, **options)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        weights = {
            name: weight + 0.2 * torch.randn_like(weight) for name, weight in Transformer(config).state_dict().items()
        }
    save_checkpoint(folder, weights, config, tokenizer, decoding=DecodingConfig(**decoding))
    return folder


@pytest.mark.parametrize(("name", "mode"), [*((name, "") for name in ODD), ("untied", "plain")])
def test_odd_sizes_and_options(name: str, mode: str, tmp_path: Path, compare: Compare) -> None:
    folder = draw(tmp_path / "model", ODD[name], SEARCHES[name])
    sentences = list(EXAMPLES.values())[: 2 if mode else None]  # without the kernel it takes long
    expected = write_all(tmp_path, folder, sentences, 100, "ko")
    check(compare(expected.write(), mode), 100, len(sentences) + len(HARD), 1_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["en-de", "en-fr", "en-fr-small"])
def test_the_shipped_models_on_all_sentences_of_their_cards(name: str, tmp_path: Path, compare: Compare) -> None:
    checkpoint = ROOT / "checkpoints" / name
    expected = write_all(tmp_path, checkpoint, shipped_sentences(checkpoint), 10_000)
    check(compare(expected.write()), 10_000, 280, 15_000)


@pytest.mark.slow
def test_all_heads_of_the_shipped_model(tmp_path: Path, compare: Compare) -> None:
    expected = write_all(tmp_path, SMALL, (), 20_000)
    expected.off(HARD[0], [[head] for head in all_heads(expected.translator)])
    assert compare(expected.write())["off"] == 4 + 144
