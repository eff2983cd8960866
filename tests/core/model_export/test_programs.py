"""All exports: options without a counterpart, missing packages, examples; CTranslate2 as docs/models.md says."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.core.conversion.language_twins import LANGUAGES
from tests.core.conversion.twins import Twin
from tests.core.model_export.peers import CHECKPOINTS, searched, sentences
from tests.core.tiny import tiny_config
from transformer_core.config import DecodingConfig
from transformer_core.decoding.beam import Hypothesis, length_penalty
from transformer_core.model_export import ExportError, export_model, refusals
from transformer_core.model_export.exporting import WRITERS
from transformer_core.model_export.search import penalty_notes, power, search_notes
from transformer_core.translator import Translator

REFUSED: dict[str, list[dict[str, Any]]] = {
    "transformers": [
        {"norm": "pre"},
        {"window": 2},
        {"attention": "additive"},
        {"scaled": False},
        {"causal": False},
        {"residual": False},
        {"d_k": 3},
        {"embedding_norm": True},
        {"layer_norm_epsilon": 1e-3},
    ],
    "onnx": [{"window": 2}, {"attention": "additive"}],
}
NAMES = {"transformers": "MarianMTModel", "onnx": "the ONNX export"}


@pytest.mark.parametrize(
    ("program", "options"), [(program, each) for program, options in REFUSED.items() for each in options], ids=str
)
def test_an_option_without_a_counterpart_is_refused_and_nothing_is_left(
    program: str, options: dict[str, Any], drawn_checkpoint: partial[Path], tmp_path: Path
) -> None:
    ((name, value),) = options.items()
    folder = drawn_checkpoint(**options)
    with pytest.raises(ExportError, match=f"{name} is {value!r}, but {NAMES[program]} (supports only|adds)"):
        export_model(folder, tmp_path / "out", program)
    assert [each.name for each in tmp_path.iterdir()] == ["ours"]


@pytest.mark.parametrize("program", WRITERS)
def test_limit(program: str, drawn_checkpoint: partial[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model so wide would take most of the time of these tests; so the programs get a lower limit."""
    config = tiny_config(d_model=4_096)
    refusals.check_table(config, 2**16)  # 1 GB
    with pytest.raises(ExportError, match="65,537 positions of width 4,096 are too many"):
        refusals.check_table(config, 2**16 + 1)
    monkeypatch.setattr(refusals, "_MAX_POSITION_VALUES", 100)
    with pytest.raises(ExportError, match="positions of width 16 are too many"):
        export_model(drawn_checkpoint(positions="tensor2tensor"), tmp_path / "out", program)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "said"), [("bart", "embedding_norm is True"), *((each, "norm is 'pre'") for each in LANGUAGES)]
)
def test_other_families_are_refused(name: str, said: str, twins: Callable[[str], Twin], tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=said):
        export_model(twins(name).folder.parent / "ours", tmp_path / "out", "transformers")
    assert not (tmp_path / "out").exists()


def test_missing_package(drawn_checkpoint: partial[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(ExportError, match=r"needs onnx and onnxscript: python -m pip install 'headlight\[export\]'"):
        export_model(drawn_checkpoint(), tmp_path / "out", "onnx")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("program", "beam"), [("transformers", None), pytest.param("onnx", 1, marks=pytest.mark.slow)])
@pytest.mark.process
def test_the_readme_runs(program: str, beam: int | None, tmp_path: Path) -> None:
    export_model(CHECKPOINTS / "en-de", tmp_path / "out", program)
    code = (tmp_path / "out" / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path / "out", check=True
    )
    text = Translator.load(CHECKPOINTS / "en-de").translate("A man rides a bicycle.", beam=beam).text
    assert done.stdout.strip() in (text, f"['{text}']")


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
