"""Alignment: the measure by hand, links from weights by hand, and a gold file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from transformer_core.analysis.alignment import (
    GoldAlignment,
    Links,
    alignment_error_rate,
    alignment_report,
    links_of_head,
    read_gold,
    word_of_each_token,
)
from transformer_core.data import DataError
from transformer_core.text.tokenizer import Encoding


def gold(sure: set[tuple[int, int]], possible: set[tuple[int, int]]) -> GoldAlignment:
    return GoldAlignment(("a", "b", "c"), ("x", "y", "z"), frozenset(sure), frozenset(sure | possible))


def test_error_rate_of_a_worked_example() -> None:
    # A = {00, 11, 22}, S = {00, 11}, P = S + {12}: 1 - (2 + 2) / (3 + 2) = 0.2
    result: Links = frozenset({(0, 0), (1, 1), (2, 2)})
    assert alignment_error_rate([(result, gold({(0, 0), (1, 1)}, {(1, 2)}))]) == pytest.approx(0.2)


def test_error_rate_sums_over_sentences_before_it_divides() -> None:
    perfect = gold({(0, 0)}, set())
    missed = gold({(0, 0), (1, 1), (2, 2)}, set())
    # hits 2 + 0, total 2 + 4
    rate = alignment_error_rate([(frozenset({(0, 0)}), perfect), (frozenset({(0, 2)}), missed)])
    assert rate == pytest.approx(1 - 2 / 6)


def test_error_rate_needs_links() -> None:
    with pytest.raises(ValueError, match="no links"):
        alignment_error_rate([(frozenset(), gold(set(), set()))])


def test_a_word_of_several_tokens_is_summed_over_keys_and_averaged_over_queries() -> None:
    # Columns 0 and 1 are one source word, so 0.3 + 0.3 beats 0.4.
    weights = np.array([[0.3, 0.3, 0.4], [0.0, 0.1, 0.9], [0.5, 0.4, 0.1]], dtype=np.float32)
    links = links_of_head(weights, np.array([0, 1, 1]), np.array([0, 0, 1]))
    # Target word 1: mean of (0.1, 0.9) and (0.9, 0.1) is a tie at 0.5; the first source word wins.
    assert links == {(0, 0), (0, 1)}


def test_lone_spaces_are_left_out() -> None:
    weights = np.array([[0.9, 0.1], [0.2, 0.8]], dtype=np.float32)
    assert links_of_head(weights, np.array([-1, 0]), np.array([-1, 0])) == {(0, 0)}
    assert links_of_head(weights, np.array([0, 1]), np.array([-1, -1])) == frozenset()


def test_tokens_find_their_words_by_their_last_character() -> None:
    # "ab cd": tokens "a", "b", " ", " cd"
    encoding = Encoding((1, 2, 3, 4), ("▁a", "b", "▁", "▁cd"), ((0, 1), (1, 2), (2, 3), (2, 5)), (False,) * 4)
    assert word_of_each_token(encoding, ("ab", "cd")).tolist() == [0, 0, -1, 1]


def test_gold_file(tmp_path: Path) -> None:
    file = tmp_path / "gold.tsv"
    file.write_text("the dog\tder hund\t0-0 1?1\n", encoding="utf-8")
    (pair,) = read_gold(file)
    assert pair.sure == {(0, 0)}
    assert pair.possible == {(0, 0), (1, 1)}


@pytest.mark.parametrize("links", ["0-2", "0:1", "x-1"])
def test_bad_link_names_file_and_line(tmp_path: Path, links: str) -> None:
    file = tmp_path / "gold.tsv"
    file.write_text(f"the dog\tder hund\t{links}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"gold\.tsv, line 1: .*is not a link"):
        list(read_gold(file))


def test_report_names_the_best_head_by_outputs() -> None:
    output = np.array([[0.9, 0.4], [0.5, 0.7]])
    report = alignment_report({"output": output, "input": 1 - output})
    assert report["best_head"] == {"head": "cross.1.2", "aer": 0.4}
    assert report["aer"]["input"] == [[0.1, 0.6], [0.5, 0.3]]
