"""Histories: from a run to the file and back, against weights captured here; damaged files; what ships."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.core.training.runs import SHORT, new_model, new_trainer, updates
from transformer_core import CheckpointError, DecodingConfig, Translator
from transformer_core.analysis.alignment import GoldAlignment, head_alignment_errors
from transformer_core.attention_maps import KINDS
from transformer_core.data import Corpus
from transformer_core.history.snapshots import MAX_BYTES, History, to_bytes
from transformer_core.history.training_history import HistoryBuilder, ProbeSentence
from transformer_core.model.transformer import load_weights
from transformer_core.parsing.words import split_words
from transformer_core.training.journal import training_curves
from transformer_core.training.snapshots import load_snapshot, snapshot_files
from transformer_core.training.validation import ValidationSet, validation_loss

ROOT = Path(__file__).resolve().parents[3]
PAIRS = [("the red dog", "der rote hund"), ("a cat", "eine katze")]
GOLD = [GoldAlignment(("a", "dog"), ("ein", "hund"), frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1)}))]


@pytest.fixture(scope="module")
def run(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grown") / "run"
    new_trainer(corpus, folder, SHORT.replace(snapshots=3, snapshots_from=1)).train()
    return folder


@pytest.fixture(scope="module")
def history(run: Path, corpus: Corpus) -> History:
    config = new_model(corpus).config
    builder = HistoryBuilder(snapshot_files(run), config, corpus.tokenizer, DecodingConfig(extra_length=3))
    probes = [ProbeSentence(*PAIRS[0]), ProbeSentence(*PAIRS[1])]
    valid = ValidationSet("pairs", PAIRS)
    return builder.build(
        probes, facts={"preset": "none"}, course=training_curves(run)["updates"], valid=valid, gold=("hand", GOLD)
    )


@pytest.fixture
def saved(history: History, tmp_path: Path) -> Path:
    history.save(tmp_path / "history")
    return tmp_path / "history"


def models(run: Path, corpus: Corpus) -> Iterator[Translator]:
    """Translators with the weights of each snapshot."""
    for file in snapshot_files(run).values():
        model = new_model(corpus).eval()
        load_weights(model, load_snapshot(file))
        yield Translator(model, corpus.tokenizer)


def test_weights_are_those_of_the_snapshot(run: Path, corpus: Corpus, history: History) -> None:
    assert history.steps == (0, 1, 2, 6)
    for number, translator in enumerate(models(run, corpus)):
        maps = translator.teacher_force(*PAIRS[0]).attention
        for kind in KINDS:
            exact = maps.weights(kind)
            error = np.abs(history.sentences[0].decoded(kind, number) - exact)
            assert error.max() <= 1 / 510 + 1e-6, (kind, number)
            assert exact.max() - exact.min() > 0.02, "equal weights would prove nothing"


def test_measures_at_a_snapshot(run: Path, corpus: Corpus, history: History) -> None:
    lines = {line["step"]: line for line in updates(run)}
    for name, column in history.training.items():
        assert column[0] is None
        assert column[1:] == pytest.approx([lines[step][name] for step in history.steps[1:]], rel=1e-5), name
    assert history.course["step"] == [1, 2, 3, 4, 5, 6]
    assert history.validation is not None and history.alignment is not None
    for number, translator in enumerate(models(run, corpus)):
        total, tokens = validation_loss(translator.model, PAIRS, corpus.tokenizer, 100, torch.float32)
        assert history.validation["nll"][number] == pytest.approx(total / tokens, abs=1e-4)
        errors = head_alignment_errors(translator, GOLD)["output"]
        assert np.array(history.alignment["aer"][number]) == pytest.approx(errors, abs=1e-4)
    assert np.shape(history.alignment["aer"]) == (4, 1, 2)


def test_shares_are_those_of_the_bytes(history: History) -> None:
    """The share of heads that look at themselves, counted from the stored weights."""
    result = history.roles["decoder"]["self"]
    for number in range(4):
        for head in range(2):
            hits = places = 0
            for sentence in history.sentences:
                weights = sentence.weights["decoder"][number, 0, head].astype(int)
                for query, token in enumerate(sentence.queries("decoder").tokens):
                    if any(character.isalnum() for character in token) and not token.startswith("<"):
                        places += 1
                        best = weights[query].max()
                        # Where bytes tie, the exact weights decided.
                        hits += int(weights[query, query] == best and (weights[query] == best).sum() == 1)
            assert places == result["places"]
            assert hits / places <= result["shares"][number][0][head] + 1e-4


def test_what_is_written_is_read(history: History, saved: Path) -> None:
    again = History.load(saved)
    assert again.steps == history.steps
    for name in ("model", "roles", "training", "course", "validation", "alignment"):
        assert getattr(again, name) == getattr(history, name), name
    for ours, theirs in zip(history.sentences, again.sentences, strict=True):
        assert (ours.source, ours.target, ours.axes) == (theirs.source, theirs.target, theirs.axes)
        for kind in KINDS:
            assert np.array_equal(ours.weights[kind], theirs.weights[kind])


def test_bytes_of_weights() -> None:
    weights = np.linspace(0, 1, 2041, dtype=np.float32)
    assert np.abs(to_bytes(weights) / 255 - weights).max() <= 1 / 510 + 1e-7
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="from 0 to 1"):
            to_bytes(np.array([wrong], dtype=np.float32))


def resign(folder: Path, attention: bytes = b"", **changes: Any) -> None:
    """Change the files with knowledge of the format."""
    if attention:
        (folder / "attention.safetensors").write_bytes(attention)
    told = json.loads((folder / "history.json").read_text(encoding="utf-8"))
    told["attention_sha256"] = hashlib.sha256((folder / "attention.safetensors").read_bytes()).hexdigest()
    (folder / "history.json").write_text(json.dumps({**told, **changes}), encoding="utf-8")


def broken(file: str, data: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / file).write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: (folder / "history.json").unlink(), "history.json: is missing"),
        (broken("history.json", b"{"), "history.json: cannot be read"),
        (broken("history.json", b"[" * 100_000), "history.json: cannot be read"),
        (partial(resign, format_version=2), "has format 2, this program reads 1"),
        (partial(resign, steps=[0, 2, 1, 6]), "steps of the snapshots must rise"),
        (partial(resign, steps=[0, 1, 6]), "its labels require"),
        (partial(resign, sentences=[]), "is not a valid history"),
        (partial(resign, model=None), "is not a valid history"),
        (broken("attention.safetensors", b"x"), "attention.safetensors: is damaged"),
        (partial(resign, attention=b"no tensors"), "attention.safetensors: cannot be read"),
        (broken("attention.safetensors", bytes(MAX_BYTES)), "has at most 3,000,000"),
    ],
)
def test_damaged_files_are_named(saved: Path, damage: Callable[[Path], object], message: str) -> None:
    damage(saved)
    with pytest.raises(CheckpointError, match=message):
        History.load(saved)


def test_the_histories_that_ship() -> None:
    checkpoints = ROOT / "checkpoints"
    # The models beside a history: in its parent folder, or of the same name among the small ones.
    models = {file.parent: file.parents[2] for file in checkpoints.glob("*/derived/history/history.json")}
    kept = {folder.name: folder for folder in (checkpoints / "small" / "history").iterdir()}
    no_longer_shipped = {kept.pop("heads-at-rest"): 8_150, kept.pop("parser"): 7_000}
    models |= {folder: checkpoints / "small" / name for name, folder in kept.items()}
    assert {"base", "en-fr-small"} <= {model.name for model in models.values()}
    written = (checkpoints / "sentences.txt").read_text(encoding="utf-8").split("\n")[:-1]
    lengths = {
        folder: json.loads((model / "metrics.json").read_text(encoding="utf-8"))["training"]["steps"]
        for folder, model in models.items()
    }
    for folder, steps in (lengths | no_longer_shipped).items():
        history = History.load(folder)
        assert 12 <= len(history.steps) <= 20 and history.steps[0] == 0 and history.steps[-1] == steps
        parses = folder.name == "parser"  # it reads words with blanks between, and aligns nothing
        read = [" ".join(split_words(sentence)) for sentence in written] if parses else written
        assert [sentence.source for sentence in history.sentences] == read and len(written) == 8
        assert history.validation is not None and (history.alignment is None) is parses
        for sentence in history.sentences:
            for kind in KINDS:
                sums = sentence.weights[kind].astype(int).sum(axis=-1)
                # Each of K bytes is at most half a step off.
                assert np.abs(sums - 255).max() <= sentence.weights[kind].shape[-1] / 2 + 1
        assert sum(file.stat().st_size for file in folder.iterdir()) <= MAX_BYTES
