"""Validation sentence by sentence, BLEU as sacreBLEU counts it; TensorBoard has the numbers of the journal."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import sacrebleu
import torch
import torch.nn.functional as F

from tests.core.tiny import sentence_pairs
from tests.core.training.runs import SHORT, metrics, new_model, new_trainer, train
from transformer_core.data import Corpus, DataError
from transformer_core.decoding.greedy import greedy_search
from transformer_core.model.masks import padding_mask
from transformer_core.training import journal
from transformer_core.training.validation import ValidationSet, greedy_bleu, validation_loss

PAIRS = sentence_pairs()[::23]


@pytest.mark.parametrize("batch_tokens", [1, 60, 5000])
def test_loss_is_the_sum_over_single_sentences(corpus: Corpus, batch_tokens: int) -> None:
    model, tokenizer = new_model(corpus, dropout=0.3).eval(), corpus.tokenizer
    total, tokens = 0.0, 0
    for source_text, target_text in PAIRS:
        source = torch.tensor([[*tokenizer.encode(source_text).ids, 2]])
        target = tokenizer.encode(target_text).ids
        with torch.no_grad():
            logits = model(source, torch.tensor([[1, *target]]), padding_mask(source, 0))
        total += float(F.cross_entropy(logits[0], torch.tensor([*target, 2]), reduction="sum"))
        tokens += len(target) + 1
    got, got_tokens = validation_loss(model, PAIRS, tokenizer, batch_tokens, torch.float32)
    assert got == pytest.approx(total, rel=1e-5)
    assert got_tokens == tokens


def test_bleu_is_sacrebleus_and_translations_come_in_order(corpus: Corpus) -> None:
    model, tokenizer = new_model(corpus).eval(), corpus.tokenizer
    score, translations = greedy_bleu(model, PAIRS, tokenizer, batch=3)
    alone = []
    for source, _ in PAIRS:
        ids = torch.tensor([[*tokenizer.encode(source).ids, 2]])
        alone.append(tokenizer.decode(greedy_search(model, ids, tokenizer.special)[0]))
    assert translations == alone
    expected = sacrebleu.corpus_bleu(translations, [[target for _, target in PAIRS]])
    assert score == pytest.approx(expected.score)


def test_a_set_is_named_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "news-2013.en-de.tsv"
    path.write_text("a\tb\n", encoding="utf-8")
    assert ValidationSet.read(path) == ValidationSet("news-2013", [("a", "b")])
    (tmp_path / "dev.en").write_text("a\n")
    (tmp_path / "dev.de").write_text("b\n")
    assert ValidationSet.read(f"{tmp_path}/dev.en,{tmp_path}/dev.de") == ValidationSet("dev", [("a", "b")])


def test_an_empty_set_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.tsv"
    path.touch()
    with pytest.raises(DataError, match=r"empty\.tsv has no sentence pairs"):
        ValidationSet.read(path)


WATCHED = SHORT.replace(steps=4, validate_every=2, checkpoint_every=2, tensorboard=True)
VALID = (ValidationSet("valid", sentence_pairs()[:3]),)


def scalars(run: Path) -> dict[tuple[str, int], float]:
    """Name and step of every number of the journal, written out."""
    values: dict[tuple[str, int], float] = {}
    for line in metrics(run):
        for name, value in line.items():
            if name == "validation":
                for set_name, scores in value.items():
                    values |= {(f"validation/{set_name}/{key}", line["step"]): each for key, each in scores.items()}
            elif name not in ("step", "ended"):
                values[name, line["step"]] = value
    return values


def test_all_journal_numbers_and_a_resume(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: dict[tuple[str, int], float] = {}
    opened: list[tuple[Path, int]] = []

    class Writer:
        def __init__(self, folder: Path, purge_step: int) -> None:
            opened.append((folder, purge_step))

        def add_scalar(self, name: str, value: float, step: int) -> None:
            noted[name, step] = value

        def flush(self) -> None:
            pass

    fake: Any = ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    monkeypatch.setattr(journal, "find_spec", lambda name: name)
    train(corpus, tmp_path, WATCHED.replace(steps=3), validation=VALID)
    new_trainer(corpus, tmp_path, WATCHED, validation=VALID, resume=True).train()
    assert opened == [(tmp_path / "tensorboard", 1), (tmp_path / "tensorboard", 4)]
    assert noted == scalars(tmp_path)
    assert ("validation/valid/bleu", 4) in noted
    assert ("mean_nll", 4) in noted


def test_its_own_files(corpus: Corpus, tmp_path: Path) -> None:
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    train(corpus, tmp_path, WATCHED, validation=VALID)
    read = events.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    values = {(name, each.step): each.value for name in read.Tags()["scalars"] for each in read.Scalars(name)}
    assert values == {name: pytest.approx(value, rel=1e-6) for name, value in scalars(tmp_path).items()}
