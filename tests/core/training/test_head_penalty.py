"""The term that keeps heads from resting: counted sentence by sentence and head by head, and its effect on training."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.core.tiny import sentence_pairs
from tests.core.training.runs import SHORT, same, train, weights_of
from transformer_core import ConfigError, ModelConfig, Tokenizer, Transformer, capture
from transformer_core.data import Corpus, make_batch
from transformer_core.training.head_penalty import head_penalty, is_penalised, linear_ramp, separators
from transformer_core.training.validation import batch_loss

CHECKPOINTS = Path(__file__).resolve().parents[3] / "checkpoints"


def nats(rows: Tensor) -> float:
    """Mutual information of query and key, all queries equally likely."""
    joint = rows.double() / len(rows)
    independent = joint.sum(0, keepdim=True) * joint.sum(1, keepdim=True)
    return float(torch.where(joint > 0, joint * (joint / independent).log(), 0.0).sum())


def measures(weights: Tensor, kind: str, is_separator: list[float]) -> list[float]:
    """Information, resting share and the share at each offset, of one head in one sentence without its padding."""
    queries, keys = weights.shape
    rows = {"encoder": range(queries - 1), "decoder": range(1, queries), "cross": range(queries)}[kind]
    chosen = weights[list(rows)]
    information = nats(chosen)
    if kind == "decoder":
        uniform = torch.ones(queries, keys).tril()
        information -= nats((uniform / uniform.sum(1, keepdim=True))[list(rows)])
    resting = sum(float(chosen[:, key].mean()) for key in range(keys) if is_separator[key])
    at_offsets = [
        sum(float(weights[row, row + offset]) for row in rows if 0 <= row + offset < keys) / len(rows)
        for offset in range(-3, 4)
    ]
    return [information / math.log(min(queries, keys)), resting, *at_offsets]


def test_the_term_is_what_a_loop_over_sentences_and_heads_gives(tokenizer: Tokenizer) -> None:
    torch.manual_seed(2)
    model = Transformer(ModelConfig(vocab_size=len(tokenizer), d_model=16, d_ff=32, num_layers=2, num_heads=2)).eval()
    for parameter in model.parameters():
        parameter.data *= 3  # rows that are not even
    pairs = [*sentence_pairs()[:4], ("a", "b"), ("The man, the house.", "Der Mann, das Haus.")]
    sources = [list(tokenizer.encode(source).ids) for source, _ in pairs]
    targets = [list(tokenizer.encode(target).ids) for _, target in pairs]
    batch, pad = make_batch(sources, targets, tokenizer.special), tokenizer.special.pad
    is_separator = separators(tokenizer)
    with capture(model, "weights") as weights:
        batch_loss(model, batch, smoothing=0.0, pad=pad, dtype=torch.float32)
    values: list[float] = []
    for address, value in weights.items():
        kind = "cross" if "cross" in address else address.split(".")[0]
        queries = batch.source if kind == "encoder" else batch.inputs
        keys = batch.inputs if kind == "decoder" else batch.source
        for head in range(2):
            rows = []
            for row in range(len(pairs)):
                long, wide = int((queries[row] != pad).sum()), int((keys[row] != pad).sum())
                if long - (kind != "cross") >= 4:  # </s> and <s> do not count
                    rows.append(measures(value[row, head, :long, :wide], kind, is_separator[0][keys[row]].tolist()))
            information, resting, *at_offsets = (sum(part) / len(part) for part in zip(*rows, strict=True))
            values.append(max(0.0, 0.22 - information))
            if kind != "cross":
                values[-1] += max(0.0, resting - 0.35) + max(0.0, max(at_offsets) - 0.6)
    penalty = float(head_penalty(weights, batch.source, batch.inputs, is_separator, pad))
    assert penalty == pytest.approx(sum(values) / len(values), abs=1e-5)
    assert penalty > 0


def test_separators_are_special_ids_and_tokens_without_a_letter_or_digit(tokenizer: Tokenizer) -> None:
    source, target = separators(tokenizer)
    assert torch.equal(source, target)
    texts = {text: bool(target[number]) for number, text in enumerate(tokenizer.tokens(range(len(tokenizer))))}
    assert texts["<s>"] and texts["</s>"] and texts["."]
    words = [text for text in texts if text not in ("<s>", "</s>") and any(map(str.isalnum, text))]
    assert len(words) > 50 and not any(texts[text] for text in words)


def test_the_term_sets_in_slowly() -> None:
    assert [linear_ramp(step, 200, 600) for step in (0, 200, 300, 400, 600, 9000)] == [0, 0, 0.25, 0.5, 1, 1]
    assert [linear_ramp(step, 0, 0) for step in (0, 1)] == [0, 1]


def test_heads_look_more_with_the_term_than_without(corpus: Corpus, tmp_path: Path) -> None:
    config = SHORT.replace(steps=40, batch_tokens=600, head_penalty_start=0, head_penalty_full=1)
    penalties = {}
    for weight in (0.0, 10.0):
        trainer = train(corpus, tmp_path / str(weight), config.replace(head_penalty=weight))
        tokenizer = corpus.tokenizer
        sources, targets = zip(*sentence_pairs()[:20], strict=True)
        batch = make_batch(tokenizer.source.encode_batch(sources), tokenizer.encode_batch(targets), tokenizer.special)
        with capture(trainer.model.eval(), "weights") as weights, torch.no_grad():
            batch_loss(trainer.model, batch, smoothing=0.0, pad=tokenizer.special.pad, dtype=torch.float32)
        separated = separators(tokenizer)
        penalties[weight] = float(head_penalty(weights, batch.source, batch.inputs, separated, tokenizer.special.pad))
    assert penalties[10.0] < 0.9 * penalties[0.0]


def test_nothing_changes_before_the_term_sets_in(corpus: Corpus, tmp_path: Path, straight: dict[str, Tensor]) -> None:
    later = train(corpus, tmp_path / "later", SHORT.replace(head_penalty=1.0), dropout=0.3)
    assert same(straight, weights_of(later))


@pytest.mark.parametrize("option", [{"activation_checkpointing": True}, {"parallel": "fsdp"}])
def test_what_the_term_does_not_work_with(option: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"head_penalty is 1\.0, but must be 0 with activation_checkpointing"):
        SHORT.replace(head_penalty=1.0, **option)


@pytest.mark.parametrize(
    ("recipe", "facts", "penalised"),
    [
        ("", {}, False),
        ("", {"head_penalty": 0.5}, True),
        ('preset = "parsing-small"', {}, True),  # the preset has it
        ('preset = "en-de"', {}, False),
        ('preset = "en-de"\n[training]\nhead_penalty = 3.0', {}, True),
        ('preset = "parsing-small"\n[training]\nhead_penalty = 0', {}, False),
        ('preset = "en-de"\n[training]\nhead_penalty = 3.0', {"head_penalty": 0.0}, False),
        ('preset = "gone"\n[training]\nhead_penalty = 1', {}, True),
        ('preset = ["en-de"]\ntraining = 3', {}, False),
        ('[training]\nhead_penalty = "much"', {}, False),
        ("no recipe at all", {}, False),
        ("a = " + "[" * 5000, {}, False),
        ("#" * 200_000 + "\n[training]\nhead_penalty = 1", {}, False),
    ],
)
def test_checkpoint_states_its_penalty(tmp_path: Path, recipe: str, facts: dict[str, float], penalised: bool) -> None:
    """By its facts, else by its recipe; a foreign recipe may say anything."""
    if recipe:
        (tmp_path / "recipe.toml").write_text(recipe, encoding="utf-8")
    assert is_penalised(tmp_path, facts) == penalised


def test_of_the_shipped_models_german_and_the_parser_were_trained_with_it() -> None:
    assert is_penalised(CHECKPOINTS / "en-de", {}) and is_penalised(CHECKPOINTS / "en-tree", {})
