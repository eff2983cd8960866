"""Alignment by methods: against the measure of heads, against links from one attribution, and two halves by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer_core.analysis.alignment import (
    GoldAlignment,
    alignment_error_rate,
    head_alignment_errors,
    links_of_head,
    word_of_each_token,
)
from transformer_core.analysis.attribution import METHODS, attribute, cross_contributions
from transformer_core.analysis.method_alignment import (
    ALIGNERS,
    OF_OUTPUTS,
    Aligner,
    Counts,
    compare,
    method_counts,
    method_errors,
)
from transformer_core.head import place_named
from transformer_core.translator import Translator

Rows = Callable[[str, str], np.ndarray]
PAIRS = [
    ("The man sees two well-known books today .", "Der Mann sieht heute zwei bekannte Bücher .", "0-0 1-1 2-2 6-3"),
    ("A child paints a house .", "Ein Kind malt ein Haus .", "0-0 1-1 2-2 3-3 4-4 5-5"),
    ("My friend buys the green door .", "Mein Freund kauft die grüne Tür .", "0-0 1-1 2-2 4-4 5-5"),
]


def gold() -> list[GoldAlignment]:
    result = []
    for source, target, links in PAIRS:
        sure = frozenset((int(link[0]), int(link[2])) for link in links.split())
        possible = sure | {(0, 1), (3, 3)}
        result.append(GoldAlignment(tuple(source.split()), tuple(target.split()), sure, possible))
    return result


def test_heads_are_those_that_are_measured_alone(learned: Translator) -> None:
    counts = method_counts(learned, gold(), aligners=["attention-head"])
    for name, table in head_alignment_errors(learned, gold()).items():
        result = counts[name]["attention-head"]  # type: ignore[index]
        assert result.errors.reshape(2, 4) == pytest.approx(table)
        assert result.choices[5] == ("attention-head", "cross.2.2")


def by_hand(translator: Translator, rows_of: Rows, *, read: bool = False, signed: bool = False) -> float:
    """Error of (target tokens, source tokens) values: words as sums of tokens, of the token generated or read."""
    links = []
    for pair in gold():
        source, target = " ".join(pair.source), " ".join(pair.target)
        values = rows_of(source, target)
        queries = word_of_each_token(translator.encode_target(target), pair.target)
        words = np.zeros((len(values), len(pair.source)), dtype=np.float32)
        for token, word in enumerate(word_of_each_token(translator.encode(source), pair.source)):
            if word >= 0:
                words[:, word] += values[:, token]
        rows = (words if signed else np.abs(words))[int(read) : int(read) + len(queries)]
        links.append((links_of_head(rows, queries, np.arange(len(pair.source))), pair))
    return alignment_error_rate(links)


@pytest.mark.parametrize(
    ("aligner", "method"),
    [
        ("attention", "attention"),
        ("norm", "norm"),
        ("norm-ln", "norm-ln"),
        ("norm-head", "norm"),
        ("alti", "alti"),
        ("alti-cross", None),
        ("rollout", "rollout"),
        ("gradient", "gradient"),
        ("grad-x-input", "grad-x-input"),
        ("leave-one-out", "leave-one-out"),
        ("flow", "flow"),
    ],
)
def test_links_are_those_of_the_attribution(learned: Translator, aligner: Aligner, method: Any) -> None:
    """Every choice of layer and head, row for row: words as sums of tokens, whatever the sign but in flow."""
    counts = method_counts(learned, gold(), aligners=[aligner])
    assert set(counts["input"]) == (set() if aligner in OF_OUTPUTS else {aligner})
    for convention, by_name in counts.items():
        for number, (name, at) in enumerate(by_name[aligner].choices if aligner in by_name else ()):
            assert name == aligner

            def rows_of(source: str, target: str, at: str = at) -> np.ndarray:
                if method is None:
                    run = attribute(learned, source, target, method="alti").run
                    return cross_contributions(learned, run, place_named(at).layer).numpy()
                return attribute(learned, source, target, method=method, at=at or None).source.numpy()

            expected = by_hand(learned, rows_of, read=convention == "input", signed=aligner == "flow")
            assert by_name[aligner].errors[number] == pytest.approx(expected), (convention, at)


def test_the_error_of_a_method_is_that_of_its_whole_matrix(learned: Translator) -> None:
    """Without a choice of layer: rollout, ALTI and gradients as in the comparison; means over layers by hand."""
    result = method_errors(learned, gold(), methods=METHODS)
    assert list(result) == list(METHODS)
    counts = method_counts(learned, gold(), aligners=["rollout", "alti", *OF_OUTPUTS])["output"]
    for name, each in counts.items():
        assert result[name] == pytest.approx(each.errors[0]), name  # type: ignore[index]

    def weights(source: str, target: str) -> np.ndarray:
        means: np.ndarray = learned.teacher_force(source, target).attention.cross.mean(axis=(0, 1))
        return means

    assert result["attention"] == pytest.approx(by_hand(learned, weights))


def counts_of(name: Aligner, hits: list[list[int]]) -> Counts:
    """Choices with a number of hits out of 10 in each sentence."""
    return Counts(
        tuple((name, f"cross.{layer}") for layer in range(1, 1 + len(hits))),
        np.array(hits),
        np.full((len(hits), 4), 10),
    )


def test_what_is_chosen_on_one_half_is_measured_on_the_other() -> None:
    """Layer 1 is better on sentences 1 and 3, so it is measured on 0 and 2, where it is worse; and vice versa."""
    counts = counts_of("norm", [[1, 9, 2, 8], [6, 3, 7, 4]])
    hits, totals, chosen = counts.two_fold()
    assert hits.tolist() == [1, 3, 2, 4] and totals.tolist() == [10] * 4
    assert chosen == (("norm", "cross.1"), ("norm", "cross.2"))
    heads = counts_of("attention-head", [[5, 5, 5, 5]])
    result = compare({"attention-head": heads, "norm": counts})
    assert result["norm"].best_error == pytest.approx(0.5) and result["norm"].error == pytest.approx(0.75)
    assert result["norm"].difference == pytest.approx(0.25)
    assert (result["attention-head"].difference, *result["attention-head"].interval) == (0, 0, 0)
    assert result["any"].chosen == (("norm", "cross.1"), ("norm", "cross.2"))


def test_the_interval_is_that_of_all_draws() -> None:
    """Two sentences with differences 0.1 and 0.3: draws have means 0.1, 0.2, 0.2, 0.3."""
    heads = Counts((("attention-head", "cross.1.1"),), np.array([[9, 9]]), np.full((1, 2), 10))
    worse = Counts((("norm", "cross.1"),), np.array([[8, 6]]), np.full((1, 2), 10))
    result = compare({"attention-head": heads, "norm": worse})["norm"]
    assert result.difference == pytest.approx(0.2)
    assert result.interval == pytest.approx((0.1, 0.3))
    assert worse.minus(heads) == pytest.approx((0.2, 0.1, 0.3))
    assert heads.minus(worse) == pytest.approx((-0.2, -0.3, -0.1))
    with pytest.raises(ValueError, match="needs 2 sentences"):
        compare({"attention-head": Counts((("attention-head", "cross.1.1"),), np.ones((1, 1)), np.ones((1, 1)))})


def test_all_methods_are_there(learned: Translator) -> None:
    counts = method_counts(learned, gold()[:2], aligners=ALIGNERS)
    assert set(counts["output"]) == set(ALIGNERS)
    compared = compare(counts["output"], draws=20)
    assert set(compared) == {*ALIGNERS, "any"}
    assert compared["any"].best_error == min(result.best_error for result in compared.values())
