"""The vocabulary of a converted model: what its file may hold, and what a visitor may type."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.tiny import tiny_config, tiny_model
from transformer_core.checkpoint import CheckpointError, load_checkpoint, save_checkpoint, write_manifest
from transformer_core.config import SpecialIds
from transformer_core.text.byte_level import ByteLevelSegmenter
from transformer_core.text.segmenters import SegmenterError
from transformer_core.text.tokenizer import Tokenizer, TokenizerError
from transformer_core.text.vocab_json_tokenizer import ListedTokenizer
from transformer_core.text.vocabulary import Vocabulary, VocabularyError, unused

TOKENS = ["</s>", "<unk>", "__de__", "__en__", *"abcdefgh", "ab", "Ġ", "Ġa", unused(15), "<pad>"]
MERGES = b"#version: 0.2\na b\n\xc4\xa0 a\n"


def vocabulary(**changes: Any) -> Vocabulary:
    special = SpecialIds(pad=len(TOKENS) - 1, bos=len(TOKENS) - 1, eos=0, unk=1)
    options: dict[str, Any] = {"tokens": TOKENS, "special": special, "scheme": "byte-level", **changes}
    return Vocabulary(**options)


def tokenizer(**changes: Any) -> ListedTokenizer:
    segmenter = ByteLevelSegmenter(MERGES)
    return ListedTokenizer(vocabulary(**changes), segmenter, segmenter)


def values(**changes: Any) -> bytes:
    data = json.loads(vocabulary().to_bytes())
    return json.dumps({**data, **changes}).encode()


def test_there_and_back() -> None:
    languages = {"de": "__de__", "en": "__en__"}
    given = vocabulary(languages=languages, target_prefix="target language", target_language="de", marks=True)
    again = Vocabulary.from_bytes(given.to_bytes())
    assert again == Vocabulary.from_bytes(again.to_bytes())
    assert list(again.tokens) == TOKENS
    assert again.languages == languages and again.target_language == "de" and again.marks
    assert again.special == given.special


def test_the_file_is_what_json_writes() -> None:
    """Byte by byte, as the identity of a model depends on it."""
    odd = ['"', "\\", "\n", "\u2028", "\x7f", "\x01", "é", "한", "🙂", "</x>", "▁a b"]
    for changes in ({}, {"tokens": [*odd, *TOKENS], "languages": {"de": "__de__", '"': "__en__"}}):
        given = vocabulary(**changes)
        special = {name: value for name, value in asdict(given.special).items() if name != "forced_bos"}
        values = {name: value for name, value in asdict(given).items() if name != "special"}
        whole = {"format_version": 1, "special_ids": special, **values}
        assert given.to_bytes().decode() == json.dumps(whole, ensure_ascii=False, indent=0) + "\n"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@given(changes=st.dictionaries(st.sampled_from([*json.loads(vocabulary().to_bytes()), "more"]), _JSON, max_size=3))
def test_any_change_of_a_file_is_read_or_refused(changes: dict[str, Any]) -> None:
    """With no other error than the one for files that make no sense; and what is read can be written."""
    try:
        result = Vocabulary.from_bytes(values(**changes))
    except VocabularyError:
        return
    assert Vocabulary.from_bytes(result.to_bytes()) == result


@given(st.data())
def test_any_damage_of_a_file_is_read_or_refused(data: st.DataObject) -> None:
    whole = vocabulary().to_bytes()
    begin = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(begin, len(whole)))
    damaged = whole[:begin] + data.draw(st.binary(max_size=6)) + whole[end:]
    with suppress(VocabularyError):
        Vocabulary.from_bytes(damaged)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b"[]", "is not of format 1"),
        (values(format_version=2), "is not of format 1"),
        (values(tokens="abc"), "tokens must be a list"),
        (values(tokens=[*TOKENS[:-1], 7]), "tokens must hold texts"),
        (values(tokens=[*TOKENS[:-1], ""]), "tokens must hold texts"),
        (values(tokens=[*TOKENS[:-1], "x" * 1_001]), "tokens must hold texts"),
        (values(tokens=[*TOKENS[:-1], "\ud800"]), "half of a surrogate pair"),
        (values(tokens=TOKENS[:5]), "beyond the list of 5 tokens"),
        (values(source_tokens=["a"]), "beyond the list of 1 tokens"),
        (values(languages=[]), "languages must be an object"),
        (values(languages={"de": 7}), "languages must hold texts"),
        (values(languages={"de": "__fr__"}, source_prefix="source language"), "has no token"),
        (values(source_prefix="<s>"), "has no token"),
        (values(target_language="fr"), "has no language 'fr'"),
        (values(scheme="words"), "scheme is 'words'"),
        (values(scheme=["sentencepiece"]), "scheme is"),
        (values(marks=1), "marks is 1"),
        (values(special_ids=None), "expected options"),
        (values(special_ids={"pad": 0, "eos": 0}), "special ids"),
        (values(special_ids={"pad": -1}), "special ids"),
        (values(more=1), "more"),
    ],
)
def test_a_file_that_makes_no_sense(data: bytes, said: str) -> None:
    with pytest.raises(VocabularyError, match=said):
        Vocabulary.from_bytes(data)


def test_a_token_twice() -> None:
    with pytest.raises(VocabularyError, match="lists a token twice"):
        tokenizer(tokens=[*TOKENS[:-2], "a", "<pad>"])


def test_merges_by_hand() -> None:
    assert tokenizer().encode("abab a").tokens == ("ab", "ab", "▁a")
    assert tokenizer().encode("aab").ids == (4, 12)
    assert tokenizer().decode([12, 14, 0, 16, 15, 4]) == "ab aa"
    assert tokenizer().encode("xa").unknown == (True, False)


@pytest.mark.parametrize("model", [b"a", b"a b c", b"a  b", b"\xff \xff", "한 국".encode()])
def test_other_files_are_no_merges(model: bytes) -> None:
    with pytest.raises(SegmenterError, match="not a list of merges"):
        ByteLevelSegmenter(model)


def test_a_long_word_takes_no_longer_than_many() -> None:
    result = ByteLevelSegmenter(MERGES).cut("ab" * 50_000)
    assert len(result.tokens) == 50_000


def test_special_tokens_are_no_text() -> None:
    own = tokenizer(tokens=["</s>", "<unk>", "ab", *TOKENS[3:12], "__de__", *TOKENS[13:]], target_prefix="ab")
    assert own.special.forced_bos == 2
    assert own.source.encode("ab").ids == (1,)  # a token with which translations begin
    assert own.encode("a").ids[0] == 2
    assert own.decode([2, 4]) == "a"


def test_a_language_has_to_be_chosen() -> None:
    options: dict[str, Any] = {"source_prefix": "source language", "target_prefix": "target language"}
    own = tokenizer(languages={"de": "__de__", "en": "__en__"}, source_language="en", **options)
    with pytest.raises(TokenizerError, match="needs a target language: it has de, en"):
        own.source.encode("a")
    chosen = own.with_languages(None, "de")
    assert chosen.source.encode("a").ids == (3, 4)
    assert chosen.encode("a").ids == (2, 4)
    assert chosen.special.forced_bos == 2
    assert chosen.source.encode("").ids == ()


def test_a_vocabulary_trained_here_has_no_choice(tokenizer: Tokenizer) -> None:
    assert tokenizer.with_languages(None, None) is tokenizer
    with pytest.raises(TokenizerError, match="no choice of languages"):
        tokenizer.with_languages("en", None)


def test_a_checkpoint_whose_vocabulary_is_damaged_missing_or_surplus(tmp_path: Path) -> None:
    folder, own = tmp_path / "model", tokenizer()
    weights = {name: each.detach() for name, each in tiny_model(vocab_size=17).named_parameters()}
    save_checkpoint(folder, weights, tiny_config(vocab_size=17), own)
    loaded = load_checkpoint(folder)
    assert loaded.tokenizer.encode("abab a") == own.encode("abab a")
    assert loaded.tokenizer.sha256 == own.sha256
    (folder / "vocabulary.json").write_bytes(own.vocabulary.to_bytes().replace(b"__de__", b"__fr__"))
    with pytest.raises(CheckpointError, match=r"vocabulary.json: is damaged"):
        load_checkpoint(folder)
    assert write_manifest(folder).weights_hash != loaded.weights_hash
    (folder / "vocabulary.json").write_bytes(b"{}")
    with pytest.raises(CheckpointError, match=r"vocabulary.json: is not of format 1"):
        write_manifest(folder)
    with pytest.raises(TokenizerError, match="as in a converted model, which cannot be trained further"):
        Tokenizer.load(folder / "tokenizer.model")
    (folder / "vocabulary.json").unlink()
    with pytest.raises(CheckpointError, match=r"vocabulary.json: is missing"):
        load_checkpoint(folder)
