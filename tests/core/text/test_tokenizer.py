"""Text to tokens and back: round trips, spans, unknown characters, words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.conversion.twins import tokens_model
from tests.core.tiny import sentence_pairs
from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.config import SpecialIds
from transformer_core.text.tokenizer import Encoding, Tokenizer, TokenizerError, axis, word_numbers

WORDS = sorted({word for pair in sentence_pairs() for text in pair for word in text.split()})
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
# Letters of the vocabulary, others, spaces of all kinds, characters of one, two, three and four bytes.
CHARACTERS = st.text(st.sampled_from("abcxyzÄßé .,'-!?12  \t　ﬁＡ①한국ㄱ日🙂👩‍🔬\u0301☃"), max_size=20)


def test_special_tokens_have_their_fixed_ids(tokenizer: Tokenizer) -> None:
    assert tokenizer.special == SpecialIds(pad=0, bos=1, eos=2, unk=3)
    assert tokenizer.tokens([0, 1, 2, 3]) == ("<pad>", "<s>", "</s>", "<unk>")
    assert len(tokenizer) == 160


@given(text=TEXTS)
def test_round_trip(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    assert not any(encoding.unknown)
    assert tokenizer.decode(encoding.ids) == text
    assert tokenizer.tokens(encoding.ids) == encoding.tokens
    assert "".join(encoding.tokens).replace(WORD_BOUNDARY, " ").strip() == text


@given(texts=st.lists(CHARACTERS, max_size=5))
def test_the_quick_way_gives_the_same_ids(tokenizer: Tokenizer, texts: list[str]) -> None:
    assert tokenizer.encode_batch(texts) == [list(tokenizer.encode(text).ids) for text in texts]


@given(text=CHARACTERS)
def test_spans_cover_the_text_in_order(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    assert len(encoding.ids) == len(encoding.tokens) == len(encoding.spans) == len(encoding.unknown) == len(encoding)
    covered: set[int] = set()
    previous = 0
    for begin, end in encoding.spans:
        assert 0 <= begin <= end <= len(text)
        assert begin >= previous or begin in covered  # tokens of one wide character share its span
        previous = max(previous, begin)
        covered.update(range(begin, end))
    for position, character in enumerate(text):
        visible = not character.isspace() and unicodedata.category(character)[0] not in "CZ"
        assert position in covered or not visible, f"{character!r} at {position} of {text!r} is in no token"


@pytest.fixture(scope="module")
def bytewise() -> Tokenizer:
    """A vocabulary with tokens of bytes, as SentencePiece itself trains it."""
    special = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3}
    return Tokenizer(tokens_model(WORDS, 400, "bpe", byte_fallback=True, normalization_rule_name="nmt_nfkc", **special))


@given(text=CHARACTERS | st.text(max_size=20))
def test_with_bytes_no_character_is_unknown_and_every_text_comes_back(bytewise: Tokenizer, text: str) -> None:
    encoding = bytewise.encode(text)
    assert not any(encoding.unknown) and encoding.unknown_characters(text) == ()
    normal = bytewise.decode(encoding.ids)
    assert bytewise.decode(bytewise.encode(normal).ids) == normal
    if set(text) <= set("abcxyzÄßé .,'-!?12ﬁＡ①한국ㄱ日🙂☃"):
        assert normal == " ".join(unicodedata.normalize("NFKC", text).split())
    numbers = word_numbers(encoding.tokens)
    assert all(later - earlier in (0, 1) for earlier, later in pairwise(numbers))


def spans_by_bytes(tokenizer: Tokenizer, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Brute force: the bytes of all tokens in a row, and the characters that each token has bytes of."""
    owners: list[tuple[int, int]] = []  # byte, token
    for number, token in enumerate(tokenizer.tokens(ids)):
        text = " \u2047 " if token == "<unk>" else token.replace(WORD_BOUNDARY, " ")
        raw = bytes([int(token[3:5], 16)]) if re.fullmatch("<0x[0-9A-F]{2}>", token) else text.encode()
        owners += [(byte, number) for byte in raw]
    owners = owners[owners[:1] == [(32, 0)] :]  # no blank at the beginning
    places: dict[int, list[int]] = {number: [] for number in range(len(ids))}
    at = 0
    for place, character in enumerate(bytes(byte for byte, _ in owners).decode()):
        for _, number in owners[at : at + len(character.encode())]:
            places[number] += [place] * (not character.isspace())
        at += len(character.encode())
    return [(min(each), max(each) + 1) if each else (-1, -1) for each in places.values()]


@given(text=CHARACTERS)
def test_spans_of_ids_are_the_characters_that_their_bytes_make(
    tokenizer: Tokenizer, bytewise: Tokenizer, text: str
) -> None:
    for each in (tokenizer, bytewise):
        ids = each.encode(text).ids
        for span, expected in zip(each.spans(ids), spans_by_bytes(each, ids), strict=True):
            assert span == expected or (span[0] == span[1] and expected == (-1, -1))


@given(text=CHARACTERS)
def test_blanks_are_in_no_span_and_each_token_is_its_characters(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    for (begin, end), token in zip(encoding.spans, encoding.tokens, strict=True):
        assert text[begin:end] == text[begin:end].strip()
        assert token.replace(WORD_BOUNDARY, "") in unicodedata.normalize("NFKC", text[begin:end])


def test_bytes_are_visible_and_those_of_no_character_are_no_error(bytewise: Tokenizer) -> None:
    encoding = bytewise.encode("🙂 Hut")
    assert encoding.tokens[1:5] == ("<0xF0>", "<0x9F>", "<0x99>", "<0x82>")
    assert word_numbers(encoding.tokens)[:6] == (0, 0, 0, 0, 0, 1)
    assert bytewise.decode(encoding.ids[1:4]) == "\ufffd" * 3 and bytewise.decode(encoding.ids[1:5]) == "🙂"


def test_spans_name_the_characters_of_each_token(tokenizer: Tokenizer) -> None:
    text = "The big dog 🙂 sees."
    encoding = tokenizer.encode(text)
    for token, (begin, end) in zip(encoding.tokens, encoding.spans, strict=True):
        assert text[begin:end] == token.replace(WORD_BOUNDARY, "")


def test_text_is_normalised_to_nfkc(tokenizer: Tokenizer) -> None:
    composed = tokenizer.encode("die grüne Tür")
    decomposed = tokenizer.encode(unicodedata.normalize("NFD", "die grüne Tür"))
    assert composed.ids == decomposed.ids
    assert tokenizer.encode("ｄｏｇ").ids == tokenizer.encode("dog").ids
    assert tokenizer.encode("ﬁnds").ids == tokenizer.encode("finds").ids
    # Spans still count characters of the text that was given: one more for each mark that stands apart.
    assert decomposed.spans[-1][1] == len("die grüne Tür") + 2
    assert tokenizer.encode("ﬁnds").spans[-1][1] == 4


@pytest.mark.parametrize("strange", ["🙂", "한국", "日本"])
def test_unknown_characters_are_visible_and_marked(tokenizer: Tokenizer, strange: str) -> None:
    text = f"The dog {strange} sees"
    encoding = tokenizer.encode(text)
    unknown = [i for i, mark in enumerate(encoding.unknown) if mark]
    assert unknown
    assert all(encoding.ids[i] == tokenizer.special.unk for i in unknown)
    assert "".join(encoding.tokens[i] for i in unknown).replace(WORD_BOUNDARY, "") == strange
    assert encoding.unknown_characters(text) == tuple(strange)
    assert tokenizer.decode([tokenizer.special.unk]) == " \u2047 "
    begin, end = encoding.spans[unknown[0]][0], encoding.spans[unknown[-1]][1]
    assert text[begin:end].strip() == strange
    assert [i for i, token_id in enumerate(encoding.ids) if token_id == 3] == unknown


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_nothing_gives_no_tokens(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.encode(text) == Encoding((), (), (), ())
    assert tokenizer.decode([]) == ""


def test_special_ids_are_no_text_and_special_text_is_no_id(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("The dog").ids
    assert tokenizer.decode([1, *ids, 2, 0, 0]) == "The dog"
    assert not {0, 1, 2} & set(tokenizer.encode("<s> </s> <pad>").ids)


def test_training_does_not_depend_on_threads(tokenizer: Tokenizer) -> None:
    texts = [text for pair in sentence_pairs() for text in pair]
    assert Tokenizer.train(texts, 160, threads=2).tokens(range(160)) == tokenizer.tokens(range(160))


def test_saved_and_loaded(tokenizer: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(tokenizer.model)
    loaded = Tokenizer.load(path)
    assert loaded.encode("The dog sees.") == tokenizer.encode("The dog sees.")
    assert loaded.sha256 == tokenizer.sha256
    assert len(tokenizer.sha256) == 64


@pytest.mark.parametrize("damage", ["missing", "empty", "text", "cut"])
def test_a_damaged_file_is_named(tokenizer: Tokenizer, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "spm.model"
    contents = {"empty": b"", "text": b"no model at all", "cut": tokenizer.model[: len(tokenizer.model) // 2]}
    if damage in contents:
        path.write_bytes(contents[damage])
    with pytest.raises(TokenizerError, match=r"cannot read tokenizer .*spm.model"):
        Tokenizer.load(path)


def test_a_model_without_the_special_tokens_is_refused() -> None:
    with pytest.raises(TokenizerError, match="needs <pad>, <s>, </s> and <unk>"):
        Tokenizer(tokens_model(WORDS, 100, "bpe"))


@pytest.mark.parametrize("size", [5, 5000])
def test_a_vocabulary_too_small_or_too_large_is_refused(size: int) -> None:
    with pytest.raises(TokenizerError, match=f"vocabulary of {size} tokens"):
        Tokenizer.train(["a small text", "ein kleiner Text"], size)


@pytest.mark.parametrize(
    ("tokens", "numbers"),
    [
        (["▁The", "▁dog", "."], (0, 1, 2)),
        (["▁un", "real", "▁dog"], (0, 0, 1)),
        (["▁isn", "'", "t"], (0, 0, 0)),
        (["▁isn", "’", "t"], (0, 0, 0)),
        (["▁well", "-", "known"], (0, 0, 0)),
        (["▁yes", ",", "▁no", "!", "?"], (0, 1, 2, 3, 4)),
        (["▁(", "a", ")"], (0, 1, 2)),
        (["▁", "한", "국"], (0, 0, 0)),
        (["▁dog", "▁", "🙂", "."], (0, 1, 1, 2)),
        (["▁dog", "▁", "…", "▁no"], (0, 1, 1, 2)),
        (["▁3", "0", "%"], (0, 0, 0)),
        (["▁", "日本", "語", "を", "▁read", "s"], (0, 0, 1, 2, 3, 3)),
        (["▁GPT", "を", "4", "回", "。"], (0, 1, 2, 3, 4)),
        (["▁ก", "\u0e34", "น", "ข้าว"], (0, 0, 1, 2)),
        ([], ()),
    ],
)
def test_words(tokens: list[str], numbers: tuple[int, ...]) -> None:
    assert word_numbers(tokens) == numbers


@given(text=CHARACTERS)
def test_words_of_any_text_make_an_axis(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.encode(text).tokens
    source = axis(tokens, end=True)
    inputs = axis(tokens, start=True)
    assert source.tokens == (*tokens, "</s>")
    assert inputs.tokens == ("<s>", *tokens)
    assert source.special == (False,) * len(tokens) + (True,)
    assert inputs.special == (True,) + (False,) * len(tokens)
    assert inputs.words[1:] == tuple(word + 1 for word in source.words[:-1])
    # A special token is a word of its own.
    assert source.words.count(source.words[-1]) == 1
    assert inputs.words.count(0) == 1


def test_words_of_a_sentence(tokenizer: Tokenizer) -> None:
    tokens = tokenizer.encode("My friend doesn't like two well-known books.").tokens
    words = axis(tokens, end=True).word_texts
    assert words == ("My", "friend", "doesn't", "like", "two", "well-known", "books", ".", "</s>")


def test_a_closed_vocabulary_has_the_symbols_and_nothing_else(tokenizer: Tokenizer) -> None:
    closed = Tokenizer.from_symbols([")S", "(S", "XX", "(S"])
    assert closed.closed
    assert not tokenizer.closed
    assert len(closed) == 4 + 3
    assert closed.special == tokenizer.special
    assert closed.decode(closed.encode("(S XX XX )S").ids) == "(S XX XX )S"
    assert closed.encode("(S other )S X").unknown == (False, True, False, True)
    assert Tokenizer.from_symbols(["XX", "(S", ")S"]).model == closed.model


@pytest.mark.parametrize("symbols", [[], [""], ["a b"], ["a", " b"]])
def test_symbols_have_no_blanks(symbols: list[str]) -> None:
    with pytest.raises(TokenizerError, match="symbols without blanks"):
        Tokenizer.from_symbols(symbols)


def test_words_that_begin_at_blanks_only() -> None:
    tokens = ["▁The", "▁U", ".", "S", ".", "▁", "is", "n't", "▁."]
    assert word_numbers(tokens, at_blanks=True) == (0, 1, 1, 1, 1, 2, 2, 2, 3)
    assert word_numbers(tokens)[-1] > 3
    assert axis(tokens, end=True, at_blanks=True).word_texts == ("The", "U.S.", "isn't", ".", "</s>")
