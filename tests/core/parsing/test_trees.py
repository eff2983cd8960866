"""Trees: what they hold, how they are written, the two that need no model."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.core.parsing.grammar import NODES, SENTENCES
from transformer_core.parsing.trees import Leaf, Tree, flat_tree, right_branching, rooted, unescaped


def test_a_tree_knows_its_words_and_is_written_in_brackets() -> None:
    tree = Tree("TOP", (Tree("NP", (Leaf("-LRB-", "("), Leaf("NN", "tea"), Leaf("-RRB-", ")"))), Leaf(".", ".")))
    assert tree.words == ("(", "tea", ")", ".")
    assert str(tree) == "(TOP (NP (-LRB- -LRB-) (NN tea) (-RRB- -RRB-)) (. .))"


@pytest.mark.parametrize(
    ("word", "read"), [("-LRB-", "("), ("-RCB-", "}"), ("1\\/2", "1/2"), ("\\*", "*"), ("-lrb-", "-lrb-"), ("\\", "\\")]
)
def test_escapes_of_the_penn_treebank(word: str, read: str) -> None:
    assert unescaped(word) == read


def test_words_are_written_as_the_treebank_spells_them() -> None:
    r"""A word is `{` or 50/50 to the model; -LCB- and 50\/50 in the input and in the output."""
    written = ["-LCB-", "50\\/50", "{", "a/b", "(", "-RRB-", "\\*"]
    tree = flat_tree([unescaped(word) for word in written])
    assert tree.words == ("{", "50/50", "{", "a/b", "(", ")", "*")
    spelled = tree.respelled(written)
    assert spelled == tree and spelled.words == tree.words
    assert str(spelled) == "(TOP " + " ".join(f"(XX {word.replace('(', '-LRB-')})" for word in written) + ")"


def test_what_is_no_tree_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="NP has no children"):
        Tree("NP", ())
    for name in ("", "N P", "N(P", "NP)"):
        with pytest.raises(ValueError, match="label is"):
            Tree(name, (Leaf("NN", "tea"),))
        with pytest.raises(ValueError, match="tag is"):
            Leaf(name, "tea")
    for word in ("", " ", "two words"):
        with pytest.raises(ValueError, match="word is"):
            Leaf("NN", word)
        if word:
            with pytest.raises(ValueError, match="word is"):
                Leaf("NN", "tea", word)


@given(NODES)
def test_there_is_one_top_over_a_sentence_however_often_it_is_put_there(node: Tree | Leaf) -> None:
    once = rooted([node])
    assert once.label == "TOP"
    assert rooted([once]) == rooted([Tree("ROOT", (once,))]) == once
    assert tuple(once.leaves()) == (tuple(node.leaves()) if isinstance(node, Tree) else (node,))


def test_right_branching_by_hand() -> None:
    wanted = {
        "a": "(TOP (S (XX a)))",
        "a b": "(TOP (S (XX a) (XX b)))",
        "a b .": "(TOP (S (XX a) (XX b) (XX .)))",
        "a b c .": "(TOP (S (XX a) (VP (XX b) (XX c)) (XX .)))",
        "a b c d .": "(TOP (S (XX a) (VP (XX b) (VP (XX c) (XX d))) (XX .)))",
    }
    assert {words: str(right_branching(words.split())) for words in wanted} == wanted


@given(SENTENCES)
def test_trees_without_a_model_hold_all_words(words: list[str]) -> None:
    assert right_branching(words).words == flat_tree(words).words == tuple(words)
