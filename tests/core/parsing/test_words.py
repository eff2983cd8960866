"""Words as the treebank has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_core.parsing.words import split_words


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
