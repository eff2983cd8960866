"""Labelled bracketing against evalb's own sample, its README, and cases counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.core.parsing.grammar import NODES, made_up_trees
from transformer_core.parsing.bracketing import Matches, match, score_bracketing
from transformer_core.parsing.treebank import parse_trees
from transformer_core.parsing.trees import Leaf, Tree, flat_tree, rooted


def tree(text: str) -> Tree:
    (result,) = parse_trees([f"(TOP {text})"])
    return result


# sample/sample.gld, sample.tst and sample.rsl of evalb (Sekine and Collins; the authors gave up all rights): the tree,
# then matched, gold and test brackets; None for what evalb calls an error. Its blank lines (skipped there) are left
# out, and "This" is "this" in sentence 19, which its parameters make equal.
_THIS = "(A (P this)) (B (Q is) (A (R a) (T test)))"
_GOLD = f"(S {_THIS})"
_LONG = f"(S {' '.join([_THIS] * 11)})"
SAMPLE = [
    (_GOLD, "(S (A (P this)) (B (Q is) (A (R a) (T test))))", (4, 4, 4)),
    (_GOLD, "(S (A (P this)) (B (Q is) (C (R a) (T test))))", (3, 4, 4)),
    (_GOLD, "(S (A (P this)) (B (Q is) (A (R a) (U test))))", (4, 4, 4)),
    (_GOLD, "(S (C (P this)) (B (Q is) (A (R a) (U test))))", (3, 4, 4)),
    (_GOLD, "(S (A (P this)) (B (Q is) (R a) (A (T test))))", (3, 4, 4)),
    (_GOLD, "(S (A (P this) (Q is)) (A (R a) (T test)))", (2, 4, 3)),
    (_GOLD, "(S (P this) (Q is) (R a) (T test))", (1, 4, 1)),
    (_GOLD, "(P this) (Q is) (R a) (T test)", (0, 4, 0)),
    (_GOLD, "(S (A (P this)) (B (Q is) (A (A (R a) (T test)))))", (4, 4, 5)),
    (_GOLD, "(S (A (P this)) (B (Q is) (A (A (A (A (A (R a) (T test))))))))", (4, 4, 8)),
    (_GOLD, "(S (A (P this)) (B (Q was) (A (A (R a) (T test)))))", None),
    (_GOLD, "(S (A (P this)) (B (Q is) (U not) (A (A (R a) (T test)))))", None),
    (_GOLD, "(TOP (S (A (P this)) (B (Q is) (A (R a) (T test)))))", (4, 4, 4)),
    (_GOLD, "(S (A (P this)) (NONE *) (B (Q is) (A (R a) (T test))))", None),
    (_GOLD, "(S (A (P this)) (S (NONE abc) (A (NONE *))) (B (Q is) (A (R a) (T test))))", None),
    (_GOLD, "(S (A (P this)) (B (Q is) (A (R a) (TT test))))", (4, 4, 4)),
    (_GOLD, "(S (A (P this)) (B (Q is) (A (R a) (T test))))", (4, 4, 4)),
    (_GOLD, "(S (A (P That)) (B (Q is) (A (R a) (T test))))", None),
    ("(S (A-SBJ-1 (P this)) (B-WHATEVER (Q is) (A (R a) (T test))))", _GOLD, (4, 4, 4)),
    (_LONG, _LONG, (34, 34, 34)),
    (f"(S {_THIS} (-NONE- *))", f"(S {_THIS} (-NONE- *))", (4, 4, 4)),
    (f"(S {_THIS} (: *))", f"(S {_THIS} (: *))", (4, 4, 4)),
]


@pytest.mark.parametrize(("gold", "test", "counts"), SAMPLE)
def test_each_sentence_of_evalbs_sample(gold: str, test: str, counts: tuple[int, int, int] | None) -> None:
    result = match(tree(gold), tree(test))
    assert result == (Matches(*counts) if counts else Matches(0, 0, 0, is_error=True))


def test_the_summary_of_evalbs_sample() -> None:
    """Recall 87.76, precision 90.53, complete match 52.94; 17 valid sentences, 5 errors."""
    result = score_bracketing([tree(gold) for gold, _, _ in SAMPLE], [tree(test) for _, test, _ in SAMPLE])
    assert (round(result.recall, 2), round(result.precision, 2)) == (87.76, 90.53)
    assert round(result.exact_match, 2) == 52.94
    assert (result.sentences, result.errors) == (17, 5)
    assert result.f1 == pytest.approx(2 * 86 / (98 + 95) * 100)
    assert result.f1_interval[0] < result.f1 < result.f1_interval[1]


# evalb's README, section 7, rule 5: of n equal constituents in the gold tree and m in the other, the fewer count.
@pytest.mark.parametrize(
    ("gold", "test", "counts"),
    [
        ("(NP (NP (DT the) (NN man)))", "(NP (DT the) (NN man))", (1, 2, 1)),
        ("(NP (DT the) (NN man))", "(NP (NP (DT the) (NN man)))", (1, 1, 2)),
        ("(NP (NP (DT the) (NN man)))", "(NP (NP (DT the) (NN man)))", (2, 2, 2)),
        # README, section 6: PRT and ADVP are one label; rule 1: constituents of deleted words alone are deleted.
        ("(VP (VB go) (PRT (RP up)))", "(VP (XX go) (ADVP (XX up)))", (2, 2, 2)),
        ("(S (NP (NN tea)) (X (, ,) (: ;)) (VP (VB is)))", "(S (NP (XX tea) (XX ,)) (XX ;) (VP (XX is)))", (3, 3, 3)),
        # The gold tree's tags decide: the other's comma is no punctuation where the true tag is a noun.
        ("(NP (NN ,) (NP (NN tea)))", "(NP (, ,) (XX tea))", (1, 2, 1)),
        ("(NP (. .))", "(NP (XX .))", (0, 0, 0)),
        # No other tag is deleted: dollars and brackets are words.
        ("(NP (QP ($ $) (CD 5)) (-LRB- -LRB-))", "(NP (XX $) (QP (XX 5)) (XX -LRB-))", (1, 2, 2)),
    ],
)
def test_rules_of_evalb_by_hand(gold: str, test: str, counts: tuple[int, int, int]) -> None:
    assert match(tree(gold), tree(test)) == Matches(*counts)


@given(NODES)
def test_a_tree_has_all_its_own_constituents(node: Tree | Leaf) -> None:
    whole = rooted([node])
    result = match(whole, whole)
    assert result.is_exact
    assert match(whole, flat_tree(whole.words)).right == 0


def test_the_interval_is_narrow_where_sentences_agree_and_the_same_every_time() -> None:
    golds = made_up_trees(40)
    assert score_bracketing(golds, golds).f1_interval == (100.0, 100.0)
    half = [*golds[:20], *(flat_tree(each.words) for each in golds[20:])]
    result = score_bracketing(golds, half)
    low, high = result.f1_interval
    assert low < result.f1 < high
    assert result == score_bracketing(golds, half)
    assert score_bracketing(golds * 9, half * 9).f1_interval[0] > low


def test_nothing_can_be_scored_without_trees_of_the_same_number() -> None:
    for golds, others in (([], []), (made_up_trees(2), made_up_trees(1))):
        with pytest.raises(ValueError, match="trees cannot be compared with"):
            score_bracketing(golds, others)


def test_errors_alone_score_nothing() -> None:
    result = score_bracketing([tree("(NP (NN tea))")], [tree("(NP (NN milk))")])
    assert (result.f1, result.exact_match, result.f1_interval, result.sentences, result.errors) == (0, 0, (0, 0), 0, 1)
