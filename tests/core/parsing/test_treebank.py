"""Trees: the brackets of the Penn Treebank, what each error says, how they are written, the two that need no model."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.parsing.grammar import NODES, SENTENCES, made_up_trees
from transformer_core.parsing import treebank
from transformer_core.parsing.treebank import TreeError, parse_trees
from transformer_core.parsing.trees import Leaf, Tree, flat_tree, right_branching, rooted, unescaped


def read(text: str) -> list[str]:
    return [str(tree) for tree in parse_trees(text.splitlines())]


@given(NODES)
def test_what_is_written_is_read_again(node: Tree | Leaf) -> None:
    tree = rooted([node])
    (again,) = parse_trees([str(tree).replace("X-", "X")])
    assert str(again) == str(tree).replace("X-", "X")


def test_one_tree_a_line_or_on_several_lines_or_side_by_side() -> None:
    trees = [str(tree) for tree in made_up_trees(3)]
    assert read("\n".join(trees)) == read(" ".join(trees)) == read("\n\n".join(trees).replace(" (", "\n\t(")) == trees


# By hand, from the conventions of the Penn Treebank II (Bies et al. 1995).
@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("( (S (NP-SBJ-1 (NN tea)) (VP (VBZ helps))))", "(TOP (S (NP (NN tea)) (VP (VBZ helps))))"),
        ("(ROOT (S=2 (NN tea)))", "(TOP (S (NN tea)))"),
        ("(S1 (S (PRT|ADVP (RP up))))", "(TOP (S (PRT (RP up))))"),
        ("(S (NN tea))", "(TOP (S (NN tea)))"),
        ("(NN tea)", "(TOP (NN tea))"),
        # Traces, and what holds nothing else: the example of evalb's README, section 7.
        (
            "(TOP (S (VP (VBD reported) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))) (. .)))",
            "(TOP (S (VP (VBD reported)) (. .)))",
        ),
        ("(TOP (S ((NN tea) (VBZ helps))))", "(TOP (S (NN tea) (VBZ helps)))"),
        ("(TOP (NP (-LRB- -LRB-) (NN 1\\/2)))", "(TOP (NP (-LRB- -LRB-) (NN 1\\/2)))"),
        ("(TOP (NP (-LRB- -LCB-) (CD 50\\/50)))", "(TOP (NP (-LRB- -LCB-) (CD 50\\/50)))"),
        ("(TOP (NP (PRP$ her)) (NNP-X tea))", "(TOP (NP (PRP$ her)) (NNP-X tea))"),
    ],
)
def test_trees_are_normalised(written: str, wanted: str) -> None:
    assert read(written) == [wanted]


@pytest.mark.parametrize(
    ("written", "error"),
    [
        ("(S (NN tea)", "line 1: a bracket is never closed"),
        ("\n(S (NN tea)))", "line 2: a closing bracket has no opening one"),
        ("(S (NN tea)) tea", "line 1: 'tea' is outside of brackets"),
        ("(S (NN green tea))", "line 1: a bracket has two words, 'green' and 'tea'"),
        ("(S\n(NN tea (DT a)))", "line 2: a bracket has the word 'tea' and another bracket"),
        ("(S (NN tea) tea)", "line 1: 'tea' follows a bracket, where only brackets may stand"),
        ("(S (NP))", "line 1: the bracket 'NP' has neither a word nor another bracket"),
        ("(S ())", "line 1: the bracket '' has neither a word nor another bracket"),
        ("(NN tea)\n\n(S (-NONE- *))", "line 3: the tree has no words"),
    ],
)
def test_errors_name_the_line_and_what_is_wrong(written: str, error: str) -> None:
    with pytest.raises(TreeError, match=f"^{re.escape(error)}$"):
        read(written)


@pytest.mark.parametrize(
    ("bound", "most", "error"),
    [
        ("MAX_WORDS", 3, "line 2: the sentence has more than 3 words"),
        ("MAX_DEPTH", 3, "line 2: more than 3 brackets in one another"),
        ("MAX_BRACKETS", 6, "line 2: the tree has more than 6 brackets"),
        ("MAX_CHARACTERS", 40, "line 2: has more than 40 characters"),
    ],
)
def test_trees_have_bounds(bound: str, most: int, error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "(S (NN a) (NN b))\n(TOP (S (NN a) (NN b) (NP (NN c) (NN d))))"
    assert len(read(text)) == 2
    monkeypatch.setattr(treebank, bound, most)
    with pytest.raises(TreeError, match=f"^{re.escape(error)}$"):
        read(text)


@given(st.text(alphabet="() \nNX-*a"))
def test_any_text_gives_trees_or_an_error_of_ours(text: str) -> None:
    try:
        trees = list(parse_trees(text.splitlines()))
    except TreeError:
        return
    assert all(tree.words for tree in trees)


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
