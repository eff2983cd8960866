"""Judgements of a sentence before the model sees it."""

from __future__ import annotations

from typing import Any

import pytest

from transformer_core.text.tokenizer import Encoding
from viz_app.serving.input_validation import MAX_TOKENS, Sentence, validate_sentence, visible_words
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE


class CharacterTokenizer:
    """Every character is a token; only ASCII is known."""

    def encode(self, text: str) -> Encoding:
        spans = tuple((i, i + 1) for i, character in enumerate(text) if character != " ")
        return Encoding(
            ids=(4,) * len(spans),
            tokens=tuple(text[begin] for begin, _ in spans),
            spans=spans,
            unknown=tuple(not text[begin].isascii() for begin, _ in spans),
        )


TOKENIZER: Any = CharacterTokenizer()


def judge(text: str) -> Sentence:
    return validate_sentence(text, TOKENIZER)


@pytest.mark.parametrize(
    ("status", "texts"),
    [
        ("empty", ["", "   ", "\t\n", "\u00a0"]),
        ("korean", ["안녕하세요", "나는 pizza를 좋아해", "ㅎㅎ", "\u1112\u1161\u11ab"]),
        ("good", ["<script>alert(1)</script>"]),
    ],
)
def test_what_is_typed_is_told_apart(status: str, texts: list[str]) -> None:
    assert {judge(text).status for text in texts} == {status}


def test_white_space_is_tidied() -> None:
    assert judge("  a \n b ") == Sentence("a b", "good", 2, source="a b")


@pytest.mark.parametrize("limit", [MAX_TOKENS, 9])
def test_the_limit_is_named_with_the_count(limit: int) -> None:
    """A model may accept less than the page."""
    text = "x" * (limit + 1)
    assert validate_sentence(text[1:], TOKENIZER, limit=limit).status == "good"
    assert validate_sentence(text, TOKENIZER, limit=limit) == Sentence(
        text, "long", limit + 1, source=text, limit=limit
    )
    assert judge("x" * (MAX_TOKENS + 1)).limit == MAX_TOKENS


def test_a_parser_reads_the_words_of_what_was_typed() -> None:
    result = validate_sentence(" It doesn't  bark. ", TOKENIZER, split=visible_words)
    assert (result.text, result.source) == ("It doesn't bark.", "It does n't bark .")


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("a \u200b b", "a b"),
        ("\ufeff \x01", ""),
        ("-LRB- ( S", "( ( S"),
        ("(S XX )S", "( S XX ) S"),
        ("</script>", "< /script >"),
    ],
)
def test_a_word_that_no_token_stands_for_is_no_leaf(text: str, source: str) -> None:
    result = validate_sentence(text, TOKENIZER, split=visible_words)
    assert result.source == source and result.status == ("good" if source else "empty")


def test_unknown_characters_once_and_in_order() -> None:
    assert judge("a ☃ b ☂ ☃").unknown == ("☃", "☂")
    assert judge("I like 김치").unknown == ("김", "치")  # a Korean word does not refuse the English ones
    assert validate_sentence("I like 김치", TOKENIZER, reads="en").status == "good"


def test_twelve_examples_each_for_something_else() -> None:
    assert len(EXAMPLES) == 12 and len(set(EXAMPLES.values())) == 12
    assert FIRST_EXAMPLE in EXAMPLES
    assert all(judge(text).status == "good" for text in EXAMPLES.values())
