"""The vocabularies of a parser: tokens on one side, a closed list of symbols on the other; the treebank's words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.parsing.grammar import made_up_trees
from transformer_core.parsing import vocabulary
from transformer_core.parsing.sequences import to_symbols
from transformer_core.parsing.vocabulary import NotAParser, SymbolTable, learn_vocabularies
from transformer_core.parsing.words import split_words
from transformer_core.text.tokenizer import Tokenizer

PAIRS = [(" ".join(tree.words), " ".join(to_symbols(tree))) for tree in made_up_trees(100)]


@pytest.fixture(scope="module")
def both() -> Tokenizer:
    return learn_vocabularies(lambda: PAIRS, 60)


def test_each_symbol_is_one_token_and_comes_back(both: Tokenizer) -> None:
    assert len(both) == 4 + 1 + 2 * len({"S", "NP", "VP", "PP"})
    for sentence, symbols in PAIRS:
        assert both.decode(both.encode(symbols).ids) == symbols
        assert len(both.encode(symbols)) == len(symbols.split())
        assert both.source.decode(both.source.encode(sentence).ids) == sentence


def test_a_label_that_begins_like_another_is_one_token_too() -> None:
    both = learn_vocabularies(lambda: [("a b c", "(S (SBAR (SB XX )SB XX )SBAR XX )S")], 8)
    tokens = both.encode("(SBAR (S (SB").tokens
    assert tokens == ("▁(SBAR", "▁(S", "▁(SB")


def test_a_symbol_table_knows_every_bracket(both: Tokenizer) -> None:
    table = SymbolTable.from_tokenizer(both)
    assert table.opening.keys() == table.closing.keys() == {"S", "NP", "VP", "PP"}
    assert both.token(table.opening["NP"]) == "▁(NP"
    assert both.token(table.closing["NP"]) == "▁)NP"
    assert both.token(table.word) == "▁XX"
    assert (table.size, table.eos) == (13, both.special.eos)


@pytest.mark.parametrize("symbols", [["XX"], ["(S", ")S"], ["XX", "(S"], ["XX", "(S", ")NP"], ["XX", "(S", ")S", "S"]])
def test_another_vocabulary_is_no_parsers(symbols: list[str]) -> None:
    with pytest.raises(NotAParser, match="this model is no parser"):
        SymbolTable.from_tokenizer(Tokenizer.from_symbols(symbols))


def test_a_translators_vocabulary_is_no_parsers(tokenizer: Tokenizer) -> None:
    assert not tokenizer.closed
    with pytest.raises(NotAParser):
        SymbolTable.from_tokenizer(tokenizer)


def test_there_must_be_labels_and_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no trees to learn from"):
        learn_vocabularies(list, 60)
    table = learn_vocabularies(lambda: PAIRS, 60)
    monkeypatch.setattr(vocabulary, "MAX_LABELS", 4)
    assert len(SymbolTable.from_tokenizer(table).opening) == 4
    monkeypatch.setattr(vocabulary, "MAX_LABELS", 3)
    with pytest.raises(NotAParser):
        SymbolTable.from_tokenizer(table)
    with pytest.raises(ValueError, match="more than 3 different labels"):
        learn_vocabularies(lambda: PAIRS, 60)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # From the treebank's tokenisation guidelines: contractions, possessives, quotes, a full stop at the end only.
        ("He doesn't know Bob's car.", "He does n't know Bob 's car ."),
        ('"Good", she said.', "`` Good '' , she said ."),
        ("He lives in the U.S. today (I cannot).", "He lives in the U.S. today ( I can not ) ."),
        ("It costs $5, or 5%.", "It costs $ 5 , or 5 % ."),
        ("  ", ""),
    ],
)
def test_as_in_the_treebank(text: str, words: str) -> None:
    assert " ".join(split_words(text)) == words


@given(st.text(max_size=60))
def test_nothing_is_lost(text: str) -> None:
    words = split_words(text)
    assert all(word and len(word.split()) == 1 for word in words)
    # Quotation marks are turned into those of the treebank; all else stays.
    plain = str.maketrans("", "", "\"'`")
    assert "".join(words).translate(plain) == "".join(text.split()).translate(plain)
