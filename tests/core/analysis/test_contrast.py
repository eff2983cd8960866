"""Contrastive pairs: reading them, and counting against a model of known probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from transformer_core.analysis.contrast import Contrast, Share, read_contracat, read_lingeval, shares
from transformer_core.data import DataError
from transformer_core.translator import SourceTooLong, Translator


class Scorer:
    """Finds a translation the likelier the fewer e it has; knows texts of at most 20 characters."""

    def encode(self, text: str) -> str:
        if len(text) > 20:
            raise SourceTooLong(len(text), 20)
        return text

    encode_target = encode

    def score(self, pairs: list[tuple[str, str]]) -> list[float]:
        return [-float(target.count("e")) for _, target in pairs]


def asked(*contrasts: Contrast) -> dict[str, Share]:
    return shares(cast(Translator, Scorer()), contrasts)


def test_right_is_what_is_likeliest_and_a_tie_is_wrong() -> None:
    result = asked(
        Contrast("verbs", "x", ("a", "e"), 0),
        Contrast("verbs", "x", ("ee", "e"), 0),
        Contrast("verbs", "x", ("e", "e!"), 0),
        Contrast("pronouns", "x", ("ee", "e", "a"), 2),
        Contrast("pronouns", "x", ("a", "e", "ee"), 1),
    )
    assert result["verbs"] == Share(right=1, asked=3, chance=1.5, left_out=0)
    assert (result["pronouns"].right, result["pronouns"].asked) == (1, 2)
    assert result["pronouns"].chance == pytest.approx(2 / 3)
    assert list(result) == ["verbs", "pronouns"]


def test_long_texts_are_left_out_and_counted() -> None:
    result = asked(
        Contrast("verbs", "x" * 21, ("a", "e"), 0),
        Contrast("verbs", "x", ("a", "e" * 21), 0),
        Contrast("nouns", "x", ("a" * 21, "e"), 0),
        *[Contrast("verbs", "x", ("a", "e"), number % 2) for number in range(100)],
    )
    assert result["verbs"] == Share(right=50, asked=100, chance=50.0, left_out=2)
    assert result["nouns"] == Share(right=0, asked=0, chance=0.0, left_out=1)


def test_lingeval(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("verbs\tShe sings.\tSie singt.\tSie singen.\n", encoding="utf-8")
    assert list(read_lingeval(file)) == [Contrast("verbs", "She sings.", ("Sie singt.", "Sie singen."), 0)]
    file.write_text("verbs\tShe sings.\tSie singt.\tSie singt.\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs\.tsv, line 1: .* the same"):
        list(read_lingeval(file))


def test_contracat(tmp_path: Path) -> None:
    file = tmp_path / "pronouns.tsv"
    rows: list[tuple[Any, ...]] = [("t", "It fell.", "Er", "Sie", "Es", answer) for answer in ("f", "-", "mf", "n")]
    file.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    assert [each.right for each in read_contracat(file)] == [1, 2]
    file.write_text("t\tIt fell.\tEr\tSie\tEs\tx\n", encoding="utf-8")
    with pytest.raises(DataError, match="the answer is 'x'"):
        list(read_contracat(file))
