"""Tokens of converted models on hostile strings, against transformers and SentencePiece; notes of a conversion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from tests.core.conversion.families import TWINS
from tests.core.conversion.language_twins import LANGUAGES, SPM, language_folder
from tests.core.conversion.marian_twins import VARIANTS, marian_folder
from tests.core.conversion.twins import TARGETS, Twin, hostile_strings
from transformer_core.conversion import convert
from transformer_core.text.tokenizer import TokenizerError
from transformer_core.text.vocab_json_tokenizer import ListedTokenizer
from transformer_core.translator import Translator

MARIAN = [name for name in TWINS if name.startswith("marian")]
TEXTS = hostile_strings()


@pytest.mark.parametrize("twin", TWINS, indirect=True)
def test_every_token_covers_its_characters(twin: Twin) -> None:
    for text in TEXTS:
        ids = twin.converted.tokenizer.source.encode(text)
        assert len(ids.ids) == len(ids.tokens) == len(ids.spans) == len(ids.unknown)
        assert all(0 <= begin <= end <= len(text) for begin, end in ids.spans), text
        assert ids.unknown == tuple(each == twin.converted.tokenizer.special.unk for each in ids.ids)


@pytest.mark.parametrize("twin", [*MARIAN, "m2m", "bart"], indirect=True)
def test_the_same_ids_as_transformers(twin: Twin) -> None:
    own = twin.converted.tokenizer
    marks = 0
    for text in TEXTS:
        theirs = twin.tokenizer(text)["input_ids"][:-1]
        ours = list(own.source.encode(text).ids)
        if not ours:  # an empty text has no tokens here, so that its translation is empty
            assert len(theirs) <= 1, text
            continue
        assert ours == theirs, text
        marks += text.startswith(">>")
        if not text.startswith(">>"):  # transformers knows marks of languages on both sides
            assert list(own.encode(text).ids) == twin.tokenizer(text_target=text)["input_ids"][:-1], text
    assert marks >= 3


@pytest.mark.parametrize("twin", ["nllb", "mbart"], indirect=True)
def test_the_same_ids_as_sentencepiece_with_fairseqs_numbers(twin: Twin) -> None:
    """Transformers 5 builds these two tokenizers anew; they keep blanks at the end, which SentencePiece drops."""
    own, processor = twin.converted.tokenizer, sentencepiece.SentencePieceProcessor(str(twin.folder / SPM))
    (prefix,) = own.source.encode("The man").ids[:1]
    same = 0
    for text in TEXTS:
        ids = [3 if each == 0 else each + 1 for each in processor.encode(text.replace("\ud800", ""))]
        ours = list(own.source.encode(text).ids)
        assert ours == ([prefix, *ids] if ids else []), text
        same += [*ours, 2] == twin.tokenizer(text)["input_ids"]
    assert same >= 150


@pytest.mark.parametrize("twin", TWINS, indirect=True)
def test_texts_of_tokens(twin: Twin) -> None:
    own = twin.converted.tokenizer
    for text in TARGETS[::9]:
        ids = [each for each in own.encode(text).ids if each not in (own.special.unk, own.special.forced_bos)]
        assert own.decode(ids) == twin.tokenizer.decode(ids, skip_special_tokens=True)


@pytest.mark.parametrize("twin", ["marian: many languages"], indirect=True)
def test_a_language_as_typed_or_chosen(twin: Twin) -> None:
    typed = twin.converted.encode(">>fra<< The man")
    chosen = twin.converted.with_languages(target="fra")
    assert chosen.encode(" The man").ids == typed.ids == chosen.encode(">>fra<< The man").ids
    assert typed.tokens[0] == ">>fra<<" and typed.spans[0] == (0, 7)
    assert chosen.encode(">>deu<< The man").tokens[0] == ">>deu<<"
    assert chosen.encode("") == twin.converted.encode("")
    assert not chosen.encode("").ids
    with pytest.raises(TokenizerError, match="no target language 'kor'; it has deu, fra"):
        twin.converted.with_languages(target="kor")
    with pytest.raises(TokenizerError, match="no choice of a source language"):
        twin.converted.with_languages(source="deu")


@pytest.mark.parametrize("twin", LANGUAGES, indirect=True)
def test_source_and_target_language(twin: Twin) -> None:
    other = {"m2m": ("fr", "ko"), "nllb": ("fra_Latn", "kor_Hang"), "mbart": ("fr_XX", "ko_KR")}
    source, target = next(pair for pair in other.values() if pair[0] in twin.converted.tokenizer.vocabulary.languages)  # type: ignore[attr-defined]
    changed = twin.converted.with_languages(source, target)
    twin.tokenizer.src_lang = source
    try:
        assert [*changed.encode("The man").ids, 2] == twin.tokenizer("The man")["input_ids"]
    finally:
        twin.tokenizer.src_lang = twin.converted.tokenizer.vocabulary.source_language  # type: ignore[attr-defined]
    translation = changed.translate("The man", beam=2)
    assert target in translation.tokens[0]
    assert translation.scores[0] == 0.0
    assert target not in translation.text
    assert changed.encode_target("Der Mann").tokens[0] == translation.tokens[0]
    assert twin.converted.encode("The man").ids[0] != changed.encode("The man").ids[0]  # the first one is as it was


def test_m2m_100_as_transformers_5_saves_it(tmp_path: Path) -> None:
    """Its folder names the list of languages only."""
    language_folder(tmp_path / "listed", "m2m")
    _, tokenizer = language_folder(tmp_path / "named", "m2m", listed=False)
    for name in ("listed", "named"):
        convert(tmp_path / name, tmp_path / f"{name}-ours")
    one, other = (Translator.load(tmp_path / f"{name}-ours").tokenizer for name in ("listed", "named"))
    assert isinstance(one, ListedTokenizer) and isinstance(other, ListedTokenizer)
    assert one.vocabulary == other.vocabulary and len(one.vocabulary.languages) == 100
    ids = {language: tokenizer.get_lang_id(language) for language in one.vocabulary.languages}
    assert ids == {language: other.vocabulary.of_target[f"__{language}__"] for language in ids}


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"no_repeat_ngram_size": 3}, "no_repeat_ngram_size = 3 is not applied"),
        ({"repetition_penalty": 1.2}, "repetition_penalty = 1.2 is not applied"),
        ({"length_penalty": -1.0}, "a negative length_penalty becomes 0"),
        ({"bad_words_ids": [[5, 6]]}, "bad_words_ids = [[5, 6]] are not forbidden"),
        ({"no_repeat_ngram_size": 0, "repetition_penalty": 1.0}, None),
    ],
    ids=str,
)
def test_search_option_without_counterpart(options: dict[str, Any], note: str | None, tmp_path: Path) -> None:
    marian_folder(tmp_path / "theirs", **VARIANTS["opus"])
    file = tmp_path / "theirs" / "generation_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **options}), encoding="utf-8")
    result = convert(tmp_path / "theirs", tmp_path / "ours")
    assert result.notes == ((note,) if note else ())
    card = (tmp_path / "ours" / "README.md").read_text(encoding="utf-8")
    assert not note or f"* {note}\n" in card
