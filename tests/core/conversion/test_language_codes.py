"""Languages by the files of a foreign model, as BCP 47 codes; expected values from BCP 47 itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.conversion.language_twins import language_folder
from tests.core.conversion.marian_twins import marian_folder
from transformer_core.checkpoint import load_checkpoint
from transformer_core.conversion import ConversionError, convert
from transformer_core.conversion.foreign_folder import ForeignFolder
from transformer_core.conversion.language_codes import bcp47, stated


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("en", "en"),
        ("eng", "en"),
        ("eng_Latn", "en"),
        ("en_XX", "en"),
        ("kor_Hang", "ko"),
        ("ko_KR", "ko"),
        ("deu_Latn", "de"),
        ("zho_Hans", "zh-Hans"),
        ("zho_Hant", "zh-Hant"),
        ("zh_CN", "zh-CN"),
        ("pes_Arab", "fa"),
        ("ace_Arab", "ace-Arab"),
        ("srp_Cyrl", "sr-Cyrl"),
        ("", ""),
        ("English", ""),
        ("../x", ""),
        ("k", ""),
    ],
)
def test_names_become_codes(name: str, code: str) -> None:
    assert bcp47(name) == code


@pytest.mark.parametrize(
    ("folder", "config", "card", "found"),
    [
        ("opus-mt-ko-en", {}, "", ("ko", "en")),
        ("opus-mt-tc-big-fi-en", {}, "", ("fi", "en")),
        ("x", {"source_lang": "ko", "target_lang": "en"}, "", ("ko", "en")),
        ("opus-mt-en-de", {"source_lang": "ko", "target_lang": "zz_"}, "", ("ko", "de")),
        ("x", {}, "* source language(s): kor kor_Hang kor_Latn\n* target language(s): eng\n", ("ko", "en")),
        ("x", {}, "* source languages: ko\n* target languages: fra spa ita\n", ("ko", "")),
        ("x", {"source_lang": 3}, "source language: <b>", ("", "")),
        ("my-model", {}, "# A model\n", ("", "")),
    ],
)
def test_what_a_folder_states(
    folder: str, config: dict[str, object], card: str, found: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / folder
    path.mkdir()
    (path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    (path / "README.md").write_text(card, encoding="utf-8")
    assert stated(ForeignFolder(path)) == found


def told(checkpoint: Path) -> object:
    return load_checkpoint(checkpoint).metrics.get("languages")


def test_a_pair_is_recorded_from_the_name_and_can_be_named(tmp_path: Path) -> None:
    theirs = tmp_path / "opus-mt-ko-en"
    marian_folder(theirs)
    (theirs / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    assert convert(theirs, tmp_path / "a").source_language == "ko"
    assert told(tmp_path / "a") == {"source": "ko", "target": "en"}
    convert(theirs, tmp_path / "b", source_language="jpn", target_language="de")
    assert told(tmp_path / "b") == {"source": "ja", "target": "de"}
    with pytest.raises(ConversionError, match="the source language is 'klingon', but must be a code"):
        convert(theirs, tmp_path / "c", source_language="klingon")
    assert not (tmp_path / "c").exists()


def test_the_choice_of_a_model_of_many_languages_is_recorded(tmp_path: Path) -> None:
    language_folder(tmp_path / "theirs", "nllb")
    convert(tmp_path / "theirs", tmp_path / "a", source_language="eng_Latn", target_language="kor_Hang")
    assert told(tmp_path / "a") == {"source": "en", "target": "ko"}
    with pytest.raises(ConversionError, match="has no source language 'zzz_Latn'"):
        convert(tmp_path / "theirs", tmp_path / "b", source_language="zzz_Latn")
