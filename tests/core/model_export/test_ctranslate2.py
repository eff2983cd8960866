"""CTranslate2 reads the transformers export, as docs/models.md says; length penalties of other programs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.core.model_export.peers import CHECKPOINTS, searched, sentences
from transformer_core.config import DecodingConfig
from transformer_core.decoding.beam import Hypothesis, length_penalty
from transformer_core.model_export import export_model
from transformer_core.model_export.search import penalty_notes, power, search_notes
from transformer_core.translator import Translator

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "models.md"


@pytest.mark.parametrize("name", ["en-de", "en-fr-small"])
def test_the_lines_of_the_guide_convert_a_model(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ctranslate2: Any = pytest.importorskip("ctranslate2")
    code = GUIDE.read_text(encoding="utf-8").split("### CTranslate2")[1].split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    export_model(CHECKPOINTS / name, Path("en-de-transformers"), "transformers")
    exec(code, {})
    translator, theirs = Translator.load(CHECKPOINTS / name), ctranslate2.Translator("en-de-ctranslate2")
    side, texts = translator.tokenizer.source, sentences(16)
    tokens = [list(side.tokens(translator.encode(text).ids)) for text in texts]
    ours: list[Hypothesis] = searched(translator, texts, 1)
    targets = [list(translator.tokenizer.tokens(each.ids)) for each in ours]
    results = theirs.translate_batch(tokens, beam_size=1)
    assert [each.hypotheses[0] for each in results] == targets
    for mine, each in zip(ours, theirs.score_batch(tokens, targets), strict=True):
        assert each.log_probs == pytest.approx(mine.log_probabilities, abs=1e-3)  # with that of </s>


@pytest.mark.parametrize("alpha", [0.3, 0.6, 1.0, 2.0])
def test_the_power_changes_as_much_from_19_to_21_tokens(alpha: float) -> None:
    decoding = DecodingConfig(alpha=alpha, length_penalty="gnmt")
    nearest = power(decoding)
    ours = math.log(length_penalty(21, alpha, "gnmt") / length_penalty(19, alpha, "gnmt"))
    theirs = math.log(length_penalty(21, nearest, "power") / length_penalty(19, nearest, "power"))
    assert theirs == pytest.approx(ours, rel=2e-3)
    assert str(power(decoding)) in penalty_notes(decoding)[0]


def test_that_only_trees_are_generated_is_said() -> None:
    (note,) = search_notes(DecodingConfig(constrained=True))
    assert "only trees" in note


def test_nothing_is_said_where_nothing_differs() -> None:
    assert search_notes(DecodingConfig()) == []
    assert power(DecodingConfig(alpha=0.7, length_penalty="power")) == 0.7
    for decoding in (DecodingConfig(length_penalty="power"), DecodingConfig(alpha=0.0), DecodingConfig(beam=1)):
        assert penalty_notes(decoding) == []
