"""CTranslate2 reads the transformers export through its own converter, as docs/models.md says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.core.model_export.peers import CHECKPOINTS, searched, sentences
from transformer_core.decoding.beam import Hypothesis
from transformer_core.model_export import export_model
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
