"""Sums over words against a loop; tests and intervals against scipy's; CoNLL-U files, also broken ones."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from transformer_core.analysis.word_weights import blank_words, by_words, membership
from transformer_core.atlas.effects import rank_correlation
from transformer_core.atlas.links import DIRECTIONS, tree_counts
from transformer_core.atlas.statistics import Bootstrap, corrected, sign_test
from transformer_core.atlas.trees import RELATIONS, Tree, read_trees
from transformer_core.data import DataError
from transformer_core.text.tokenizer import Encoding, Tokenizer


@given(st.integers(0, 10_000))
def test_word_sums_are_those_of_a_literal_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries, keys = rng.integers(1, 7, size=2)
    words, others = rng.integers(1, 5, size=2)
    of_query, of_key = rng.integers(-1, words, size=queries), rng.integers(-1, others, size=keys)  # -1: of no word
    weights = rng.random((2, queries, keys))
    result = by_words(weights, of_query[:, None] == np.arange(words), of_key[:, None] == np.arange(others))
    for head in range(2):
        for word in range(words):
            rows = [row for row in range(queries) if of_query[row] == word]
            for other in range(others):
                total = sum(weights[head, row, key] for row in rows for key in range(keys) if of_key[key] == other)
                if rows:
                    assert result[head, word, other] == pytest.approx(total / len(rows))
                else:
                    assert math.isnan(result[head, word, other])


def test_a_token_belongs_to_the_word_of_its_last_character(tokenizer: Tokenizer) -> None:
    text = "My friend doesn't like the big dog."
    encoding = tokenizer.encode(text)
    words = [(0, 2), (3, 9), (10, 14), (14, 17), None, (18, 22), (23, 26), (27, 30), (31, 34), (34, 35)]
    result = membership(encoding, words)
    for token, (begin, end) in enumerate(encoding.spans):
        owners = [n for n, word in enumerate(words) if end > begin and word and word[0] <= end - 1 < word[1]]
        assert np.flatnonzero(result[token]).tolist() == owners
    assert result.sum(axis=0)[4] == 0
    assert blank_words(" a  bc\td ") == [(1, 2), (4, 6), (7, 8)]
    assert membership(Encoding((1,), ("▁",), ((0, 0),), (False,)), [(0, 1)]).sum() == 0


def test_the_sign_test_is_scipys_binomial_test() -> None:
    rng = np.random.default_rng(1)
    differences = rng.integers(-2, 4, size=(30, 5)).astype(float)
    differences[:, 4] = 0.0
    differences[3, 0] = np.nan
    for two_sided in (False, True):
        result = sign_test(differences, two_sided=two_sided)
        for column in range(4):
            better, worse = (differences[:, column] > 0).sum(), (differences[:, column] < 0).sum()
            side = "two-sided" if two_sided else "greater"
            expected = scipy.stats.binomtest(int(better), int(better + worse), alternative=side).pvalue
            assert result[column] == pytest.approx(expected)
        assert result[4] == 1.0


def test_the_correction_is_benjamini_and_hochbergs() -> None:
    p = np.array([[0.01, 0.04, np.nan], [0.03, 0.5, 0.005]])
    # Ranked .005 .01 .03 .04 .5, times 5 / rank, then the least from the right.
    assert corrected(p) == pytest.approx(np.array([[0.025, 0.05, np.nan], [0.05, 0.5, 0.025]]), nan_ok=True)
    assert np.isnan(corrected(np.full(2, np.nan))).all()


def test_intervals_cover_the_truth_and_are_those_of_resampling() -> None:
    rng = np.random.default_rng(2)
    covered = 0
    for seed in range(200):
        counts = rng.integers(1, 5, size=80)
        hits = rng.binomial(counts, 0.3)
        result = Bootstrap(80, 400, seed).ratio(hits[:, None], counts)
        covered += bool(result.low[0] <= 0.3 <= result.high[0])
    assert 0.88 < covered / 200 < 0.99
    drawn = rng.integers(80, size=(4_000, 80))
    ends = np.percentile(hits[drawn].sum(axis=1) / counts[drawn].sum(axis=1), [2.5, 97.5])
    assert [result.low[0], result.high[0]] == pytest.approx(ends, abs=0.012)
    nothing = Bootstrap(3, 100).ratio(np.zeros((3, 2)), np.zeros(3))
    assert np.isnan(nothing.value).all() and np.isnan(nothing.low).all()


def test_the_interval_of_a_correlation_holds_its_value_and_covers_it() -> None:
    """144 heads with noise on every sentence; percentiles of the draws would leave the value out."""
    rng = np.random.default_rng(4)
    truth = rng.normal(0, 1, (2, 144))
    truth[1] += 2 * truth[0]
    result, percentiles = [], []
    for seed in range(60):
        sides = truth[:, None] + rng.normal(0, 2, (2, 80, 144))
        drawing = Bootstrap(80, 200, seed)
        ratios = zip(*(drawing.ratios(side, np.ones(80)) for side in sides), strict=True)
        draws = np.array([rank_correlation(*each) for each in ratios])
        result.append(drawing.correlation(draws, rank_correlation(*sides.mean(axis=1))))
        percentiles.append(np.percentile(draws, 97.5))
    assert all(each.low <= each.value <= each.high <= 1 for each in result)
    assert sum(bool(each.value > end) for each, end in zip(result, percentiles, strict=True)) > 15
    mean = np.mean([each.value for each in result])
    covered = sum(bool(each.low <= mean <= each.high) for each in result)
    assert covered > 0.8 * 60, "of what as many other sentences would give; about nine in ten"
    exact = Bootstrap(5, 100).correlation(np.linspace(0.5, 1, 100), 1.0)
    assert exact.low < exact.high == 1


def test_rank_correlation_is_scipys() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.integers(0, 6, size=(2, 40)).astype(float)
    assert rank_correlation(one, other) == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    assert rank_correlation(np.ones(4), np.arange(4.0)) == 0.0


TEXT = """# sent_id = 1
# text = I don't du it.
1\tI\tI\tPRON\tPRP\t_\t4\tnsubj\t4:nsubj\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t4:aux\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t4:advmod\t_
3.1\tempty\t_\t_\t_\t_\t_\t_\t4:dep\t_
4-5\tdu\t_\t_\t_\t_\t_\t_\t_\t_
4\tde\tde\tVERB\tVB\t_\t0\troot\t0:root\t_
5\tle\tle\tDET\tDT\t_\t6\tdet\t6:det\t_
6\tit\tit\tPRON\tPRP\t_\t4\tobj:x\t4:obj\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t4\tpunct\t4:punct\t_

"""


def read(tmp_path: Path, text: str) -> list[Tree]:
    file = tmp_path / "trees.conllu"
    file.write_text(text, encoding="utf-8")
    return list(read_trees(file))


def test_words_that_are_written_together_share_the_characters_that_are_theirs(tmp_path: Path) -> None:
    for text in (TEXT, TEXT.replace("# text = I don't du it.\n", ""), TEXT.rstrip("\n"), TEXT.replace("\n", "\r\n")):
        (tree,) = read(tmp_path, text)
        assert tree.text == "I don't du it."
        shown = [None if word is None else tree.text[slice(*word)] for word in tree.words]
        assert shown == ["I", "do", "n't", None, None, "it", "."]
        assert tree.heads == (3, 3, 3, -1, 5, 3, 3)
        assert tree.relations == ("nsubj", "aux", "advmod", "root", "det", "obj", "punct")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("\t4\tnsubj\t4:nsubj\t_", "\t4\tnsubj", r"line 3: 8 columns, but CoNLL-U has 10"),
        ("1\tI\t", "x\tI\t", "line 3: .*'x' is not a valid ID"),
        ("\t4\tnsubj", "\t9\tnsubj", "line 3: head 9 is no other word"),
        ("\t4\tnsubj", "\t1\tnsubj", "line 3: head 1 is no other word"),
        ("\t4\tnsubj", "\tfour\tnsubj", "line 3: .*'four'"),
        ("\t4\tnsubj", "\t4\tsubject", "line 3: 'subject' with head 4 is no relation"),
        ("\t0\troot", "\t0\tobj", "line 11: 'obj' with head 0"),
        ("6\tit\t", "8\tit\t", "line 13: word 8 comes after word 5"),
        ("2-3\t", "3-4\t", "line 4: token 3-4 comes after word 1"),
        ("du it", "du them", "line 13: 'it' is not what the text has next: ' them.'"),
        ("du it", "du", "line 13: 'it' is not what"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, old: str, new: str, reason: str) -> None:
    if "line 11" in reason:
        reason = reason.replace("line 11", "line 9")
    if "line 13" in reason:
        reason = reason.replace("line 13", "line 11")
    assert old in TEXT
    with pytest.raises(DataError, match=reason):
        read(tmp_path, TEXT.replace(old, new, 1))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1: a sentence has no words"):
        read(tmp_path, "# text = nothing\n\n")
    with pytest.raises(DataError, match="more than 2,000 lines"):
        read(tmp_path, "# x\n" * 2_001)
    (tmp_path / "bytes.conllu").write_bytes(b"\xff\xfe\n")
    with pytest.raises(DataError, match="not UTF-8"):
        list(read_trees(tmp_path / "bytes.conllu"))
    assert read(tmp_path, "") == []


def test_counts_are_those_of_a_literal_loop() -> None:
    """Drawn weights and a tree with a word that has no tokens."""
    tree = Tree("", (None,) * 5, (1, -1, 1, 1, 2), ("nsubj", "root", "obj", "obj", "amod"))
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights = rng.random((2, 3, 5, 5))
        weights[:, :, 3] = np.nan  # word 3 has no tokens
        weights[:, :, :, 3] = 0.0
        hits, places, _, _ = tree_counts(weights, tree)
        for layer in range(2):
            for head in range(3):
                expected = dict.fromkeys([(d, r) for d in DIRECTIONS for r in RELATIONS], 0)

                rows = weights[layer, head].tolist()
                best = {word: max((0, 1, 2, 4), key=rows[word].__getitem__) for word in (0, 1, 2, 4)}
                for word in (0, 2, 4):
                    expected["to_head", tree.relations[word]] += best[word] == tree.heads[word]
                expected["to_dependent", "nsubj"] += best[1] == 0
                expected["to_dependent", "obj"] += best[1] == 2
                expected["to_dependent", "amod"] += best[2] == 4
                for (direction, relation), count in expected.items():
                    at = DIRECTIONS.index(direction), RELATIONS.index(relation), layer, head
                    assert hits[at] == count, (direction, relation)
        assert places.sum() == 6
