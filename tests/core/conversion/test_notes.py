"""What a conversion does not carry over is said: by its result, and in the model card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.conversion.marian_twins import VARIANTS, marian_folder
from transformer_core.conversion import convert


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
def test_an_option_of_the_search_without_a_counterpart(
    options: dict[str, Any], note: str | None, tmp_path: Path
) -> None:
    marian_folder(tmp_path / "theirs", **VARIANTS["opus"])
    file = tmp_path / "theirs" / "generation_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **options}), encoding="utf-8")
    result = convert(tmp_path / "theirs", tmp_path / "ours")
    assert result.notes == ((note,) if note else ())
    card = (tmp_path / "ours" / "README.md").read_text(encoding="utf-8")
    assert not note or f"* {note}\n" in card
