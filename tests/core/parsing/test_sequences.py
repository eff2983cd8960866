"""Trees as sequences and back: the identity on trees, a tree with all words from anything, each repair by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.parsing.grammar import NODES, SENTENCES, SYMBOLS
from transformer_core.parsing import sequences
from transformer_core.parsing.sequences import REPAIRS, Repaired, to_symbols, to_tree
from transformer_core.parsing.treebank import parse_trees
from transformer_core.parsing.trees import ROOTS, Leaf, Tree, rooted


def without_tags(node: Tree | Leaf) -> Tree | Leaf:
    """Remove what a sequence cannot hold."""
    if isinstance(node, Leaf):
        return Leaf("XX", node.word)
    return Tree(node.label, tuple(map(without_tags, node.children)))


def test_the_example_of_vinyals_et_al() -> None:
    """Figure 2 of "Grammar as a Foreign Language" (2015), with XX for every part of speech as in its Section 2.2."""
    (tree,) = parse_trees(["(S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .))"])
    assert " ".join(to_symbols(tree)) == "(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S"


@given(NODES)
def test_a_tree_is_found_again_from_its_sequence(node: Tree | Leaf) -> None:
    tree = rooted([node])
    result = to_tree(to_symbols(tree), tree.words)
    assert result.tree == without_tags(tree)
    assert result.is_well_formed


@given(st.lists(SYMBOLS, max_size=30), SENTENCES)
def test_any_sequence_gives_a_tree_with_all_words_in_order(symbols: list[str], words: list[str]) -> None:
    result = to_tree(symbols, words)
    assert result.tree.words == tuple(words)
    assert result.tree.label == "TOP"
    assert set(result.repairs) <= set(REPAIRS)
    _check_positions(result, symbols)
    # A tree of ours needs no repair; and a sequence that needed none is that of its tree, or has a TOP too many.
    again = to_tree(to_symbols(result.tree), words)
    assert again.tree == result.tree
    assert again.is_well_formed
    if result.is_well_formed and symbols[0] != "(TOP":
        assert to_symbols(result.tree) == tuple(symbols)


def _check_positions(result: Repaired, symbols: list[str]) -> None:
    """Each bracket and each XX is named where it stands."""
    constituents = list(result.tree.constituents())
    assert len(result.brackets) == len(constituents)
    for constituent, (opening, closing) in zip(constituents, result.brackets, strict=True):
        roots = ROOTS if constituent is result.tree else {constituent.label}
        assert opening is None or (symbols[opening][0] == "(" and symbols[opening][1:] in roots)
        assert closing is None or (symbols[closing][0] == ")" and symbols[closing][1:] in roots)
    assert len(result.marks) == len(result.tree.words)
    assert all(mark is None or symbols[mark] == "XX" for mark in result.marks)
    named = [position for position in (*sum(result.brackets, ()), *result.marks) if position is not None]
    assert len(set(named)) == len(named)


@given(NODES)
def test_brackets_and_words_are_found_in_the_sequence(node: Tree | Leaf) -> None:
    """Each position is named once, and a constituent lies between its brackets."""
    tree = rooted([node])
    symbols = to_symbols(tree)
    result = to_tree(symbols, tree.words)
    named = {position for position in (*sum(result.brackets, ()), *result.marks) if position is not None}
    assert named == set(range(len(symbols)))
    marks = iter(result.marks)
    words = {id(leaf): next(marks) for leaf in result.tree.leaves()}
    for constituent, (opening, closing) in zip(result.tree.constituents(), result.brackets, strict=True):
        if opening is not None and closing is not None:
            inside = {words[id(leaf)] for leaf in constituent.leaves()}
            assert inside == {i for i in range(opening, closing) if symbols[i] == "XX"}


@pytest.mark.parametrize(
    ("symbols", "wanted", "repairs"),
    [
        ("(S XX XX )S", "(TOP (S a b))", {}),
        ("(TOP XX XX )TOP", "(TOP a b)", {}),
        ("(S XX <unk> XX ( )S", "(TOP (S a b))", {"unknown_symbol": 2}),
        ("(S XX )NP XX )S )S", "(TOP (S a b))", {"unmatched_close": 2}),
        ("(S XX XX XX )S", "(TOP (S a b))", {"extra_word": 1}),
        ("(S (NP XX (PP XX )S", "(TOP (S (NP a (PP b))))", {"closed_early": 2}),
        ("(S (NP XX (NP XX", "(TOP (S (NP a (NP b))))", {"never_closed": 3}),
        ("(S (NP XX )NP )S", "(TOP (S (NP a) b))", {"missing_word": 1}),
        ("(S XX (NP (PP )PP )NP XX )S", "(TOP (S a b))", {"empty_constituent": 2}),
        ("(S XX (NP XX )NP (X )X )S", "(TOP (S a (NP b)))", {"empty_constituent": 1}),
        ("(NP XX )NP (VP XX )VP", "(TOP (NP a) (VP b))", {"no_single_root": 1}),
        ("XX (VP XX )VP", "(TOP a (VP b))", {"no_single_root": 1}),
        ("(NP XX )NP (VP )VP", "(TOP (NP a) (VP b))", {"missing_word": 1, "no_single_root": 1}),
        ("", "(TOP a b)", {"missing_word": 2, "no_single_root": 1}),
        (
            "(S XX (NP XX (NP XX )NP )NP",
            "(TOP (S a (NP b)))",
            {"extra_word": 1, "never_closed": 1, "empty_constituent": 1},
        ),
    ],
)
def test_each_repair_by_hand(symbols: str, wanted: str, repairs: dict[str, int]) -> None:
    result = to_tree(symbols.split(), ["a", "b"])
    assert str(result.tree).replace("(XX a)", "a").replace("(XX b)", "b") == wanted
    assert result.repairs == repairs


def test_what_is_too_deep_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences, "MAX_DEPTH", 3)
    result = to_tree(["(S", "(NP", "(PP", "XX", ")PP", ")NP", ")S"], ["a"])
    assert str(result.tree) == "(TOP (S (NP (XX a))))"
    assert result.repairs == {"unmatched_close": 1, "too_deep": 1}


def test_a_long_sequence_of_brackets_is_no_trouble() -> None:
    result = to_tree(["(S"] * 50_000 + [")NP"] * 50_000, ["a"])
    assert result.tree.words == ("a",)


def test_a_tree_needs_words() -> None:
    with pytest.raises(ValueError, match="one word at least"):
        to_tree(["(S", ")S"], [])
