"""From a sentence to its tree: with a model that has learnt nothing, and one that knows its trees by heart."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.core.parsing.grammar import made_up_trees
from tests.core.training.runs import SHORT
from transformer_core import DecodingConfig, ModelConfig, Tokenizer, Transformer, Translator, save_checkpoint
from transformer_core.analysis.attribution.methods import source_axis
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.atlas.decoding import translate_set
from transformer_core.constituency_parser import ConstituencyParser, Parse
from transformer_core.data import Corpus, prepare, read_pairs
from transformer_core.parsing.bracketing import score_bracketing
from transformer_core.parsing.sequences import to_symbols, to_tree
from transformer_core.parsing.trees import right_branching
from transformer_core.parsing.vocabulary import NotAParser, learn_vocabularies
from transformer_core.training.trainer import Trainer

TREES = made_up_trees(30)
SENTENCES = [list(tree.words) for tree in TREES[:8]]


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trees") / "train.trees"
    path.write_text("".join(f"{tree}\n" for tree in TREES), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def vocabularies(treebank: Path) -> Tokenizer:
    return learn_vocabularies(lambda: read_pairs(treebank), 60)


def config_for(tokenizer: Tokenizer) -> ModelConfig:
    return ModelConfig(
        vocab_size=len(tokenizer),
        source_vocab_size=len(tokenizer.source),
        tie="target",
        d_model=32,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        dropout=0.0,
    )


@pytest.fixture(scope="module")
def untrained(vocabularies: Tokenizer) -> ConstituencyParser:
    torch.manual_seed(1)
    model = Transformer(config_for(vocabularies))
    return ConstituencyParser(Translator(model, vocabularies, DecodingConfig(extra_length=30, beam=2)))


@pytest.fixture(scope="module")
def learned(treebank: Path, vocabularies: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> ConstituencyParser:
    folder = tmp_path_factory.mktemp("learned")
    prepare([treebank], folder / "data", vocabularies)
    torch.manual_seed(1)
    model = Transformer(config_for(vocabularies))
    training = SHORT.replace(
        batch_tokens=800,
        steps=150,
        warmup_steps=30,
        learning_rate_factor=0.3,
        optimizer="muon",
        muon_factor=3.0,
        seed=1,
    )
    Trainer(model, Corpus(folder / "data"), training, folder / "run").train()
    return ConstituencyParser(Translator(model, vocabularies, DecodingConfig(extra_length=30, beam=2)))


def words_of(parses: list[Parse]) -> list[list[str]]:
    return [list(parse.tree.words) for parse in parses]


def test_every_sentence_gets_a_tree_over_its_words(untrained: ConstituencyParser) -> None:
    done: list[int] = []
    parses = untrained.parse_all(SENTENCES, batch=3, on_progress=done.append)
    assert words_of(parses) == SENTENCES
    assert sum(done) == len(SENTENCES)
    assert not any(parse.is_well_formed for parse in parses)  # it has learnt nothing


def test_constrained_search_needs_no_repair(untrained: ConstituencyParser) -> None:
    parses = untrained.parse_all(SENTENCES, batch=3, constrained=True)
    assert words_of(parses) == SENTENCES
    for parse in parses:
        assert parse.is_well_formed
        assert parse.translation is not None
        assert parse.translation.finished
        assert " ".join(to_symbols(parse.tree)) == parse.translation.text


def test_a_checkpoint_may_say_that_every_search_is_constrained(untrained: ConstituencyParser, tmp_path: Path) -> None:
    free = untrained.translator
    decoding = free.decoding.replace(constrained=True)
    save_checkpoint(tmp_path / "parser", free.model.state_dict(), free.config, free.tokenizer, decoding=decoding)
    loaded = Translator.load(tmp_path / "parser")
    texts = ["", *map(" ".join, SENTENCES)]
    rows = [each.text for each in loaded.translate_batch(texts)]
    asked_for = untrained.parse_all(SENTENCES, batch=len(SENTENCES), constrained=True)
    assert rows == ["", *(parse.translation.text for parse in asked_for if parse.translation)]
    assert [parse.tree for parse in ConstituencyParser(loaded).parse_all(SENTENCES)] == [
        each.tree for each in asked_for
    ]
    ids = [loaded.encode(text).ids for text in texts]
    without = [each.hypotheses[0].ids for each in loaded.search(ids, constrained=False)]
    assert without == [each.hypotheses[0].ids for each in free.search(ids)]
    assert ConstituencyParser(loaded).parse_all(SENTENCES, constrained=False) != asked_for
    greedy = translate_set(loaded, ([(text, "a") for text in texts], [], []))["texts"].tolist()
    assert not any(to_tree(each.split(), words).repairs for each, words in zip(greedy, SENTENCES, strict=True))


@pytest.mark.parametrize("constrained", [False, True])
def test_words_without_tokens_unknown_characters_and_escapes(untrained: ConstituencyParser, constrained: bool) -> None:
    sentences = [["\u200b"], ["the", "\u200b", "cat"], ["東京", "\ud800"], ["-LRB-", ")", "1\\/2"], ["⁇"]]
    parses = untrained.parse_all(sentences, constrained=constrained)
    assert words_of(parses) == [*sentences[:3], ["(", ")", "1/2"], ["⁇"]]
    assert str(parses[3].tree).count("-LRB-") == 1
    written = ["-LCB-", "50\\/50", "{", "a/b"]
    assert [
        each.spelling for each in untrained.parse_all([written], constrained=constrained)[0].tree.leaves()
    ] == written


def test_too_long_a_sentence_gets_a_flat_tree(untrained: ConstituencyParser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer_core.constituency_parser.MAX_WORDS", 5)
    flat, parsed = untrained.parse_all([["cat"] * 6, ["cat"] * 5])
    assert str(flat.tree) == "(TOP " + " ".join(["(XX cat)"] * 6) + ")"
    assert flat.problem == "not parsed: the source has 6 tokens, but at most 5 are allowed"
    assert not flat.is_well_formed
    assert not parsed.problem
    narrow = ConstituencyParser(copy.copy(untrained.translator))
    narrow.translator.decoding = DecodingConfig(extra_length=2)
    assert narrow.parse("cat").problem.endswith("at most 0 are allowed")


def test_no_words_are_an_error(untrained: ConstituencyParser) -> None:
    with pytest.raises(ValueError, match="one word at least"):
        untrained.parse(" ")


def test_a_translator_is_no_parser(tokenizer: Tokenizer) -> None:
    model = Transformer(ModelConfig(vocab_size=len(tokenizer), d_model=16, d_ff=16, num_layers=1, num_heads=2))
    with pytest.raises(NotAParser):
        ConstituencyParser(Translator(model, tokenizer))


def test_a_parser_that_has_learnt_finds_its_trees(learned: ConstituencyParser) -> None:
    for constrained in (False, True):
        parses = learned.parse_all([tree.words for tree in TREES], constrained=constrained)
        result = score_bracketing(TREES, [parse.tree for parse in parses])
        assert result.f1 > 80 > score_bracketing(TREES, [right_branching(tree.words) for tree in TREES]).f1


def test_maps_have_words_on_one_side_and_brackets_on_the_other(untrained: ConstituencyParser, tmp_path: Path) -> None:
    """Also after a checkpoint was written and loaded, as the app does."""
    parser = untrained.translator
    weights = parser.model.state_dict()
    save_checkpoint(tmp_path / "parser", weights, parser.config, parser.tokenizer, decoding=parser.decoding)
    loaded = ConstituencyParser(Translator.load(tmp_path / "parser"))
    sentence = "the U.S. cat isn't near '' ."
    parse = loaded.parse(sentence, constrained=True)
    assert parse.translation is not None
    maps = parse.translation.attention
    merged = maps.merged_to_words()
    assert [text.replace("⁇", "") for text in merged.source.word_texts[:-1]] == sentence.split()
    assert merged.outputs.tokens == (*to_symbols(parse.tree), "</s>")
    assert merged.inputs.tokens == ("<s>", *to_symbols(parse.tree))
    assert merged.outputs == maps.outputs.merged()
    assert maps.outputs.words == tuple(range(len(maps.outputs)))
    assert np.allclose(merged.cross.sum(axis=-1), 1.0, atol=1e-5)
    assert source_axis(teacher_forced_run(loaded.translator, sentence)) == maps.source
    forced = loaded.translator.teacher_force(sentence, " ".join(to_symbols(parse.tree)))
    assert forced.attention.outputs == maps.outputs
