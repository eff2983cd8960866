"""The notebooks of docs/notebooks run, and what is stored of them is small and loads nothing."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
MAX_BYTES = 1_000_000  # of all together
QUICK = "6-any-model"


def runner() -> object:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / ".ci" / "notebooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * (path.stem != QUICK)) for path in NOTEBOOKS]
)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    made = runner().executed(path)  # type: ignore[attr-defined]
    kept = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    assert [bool(cell["outputs"]) for cell in kept] == [
        any(each.get("name") != "stderr" for each in cell.outputs) for cell in cells
    ]


def test_the_notebooks_are_small_and_hold_figures() -> None:
    assert len(NOTEBOOKS) == 7
    texts = {path.stem: path.read_text(encoding="utf-8") for path in NOTEBOOKS}
    assert sum(len(text.encode()) for text in texts.values()) < MAX_BYTES
    for name, text in texts.items():
        outputs = [each for cell in json.loads(text)["cells"] for each in cell.get("outputs", [])]
        figures = [each for each in outputs if {"image/svg+xml", "image/png"} & set(each.get("data", {}))]
        assert len(figures) >= 2, name
        assert "<iframe" not in text and "<script" not in text, name
        assert not re.search(r"/(root|home|Users)/|Traceback", text), name
