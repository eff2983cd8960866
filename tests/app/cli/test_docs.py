"""The documentation as a site: guides, notebooks and docstrings are there, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.app.read_html import Page
from transformer_core.cli import main
from viz_app.cli import PROGRAM

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


def foreign(folder: Path) -> list[str]:
    """Addresses outside the site that its pages and styles load."""
    tags = [each for page in folder.rglob("*.html") for each in Page(page.read_text(encoding="utf-8")).tags]
    rows = [value for tag, attributes in tags if (value := attributes.get(LOADS.get(tag, "")))]
    styles = [
        text for path in folder.rglob("*.css") for text in re.findall(r"url\(([^)]*)\)|@import[^;]*", path.read_text())
    ]
    return [address for address in (*rows, *styles) if re.match(r"[\"']?(https?:)?//", address)]


@pytest.mark.slow
def test_the_site_has_guides_notebooks_and_docstrings_and_loads_nothing(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    out = tmp_path / "site"
    assert main(["docs", f"--out={out}"], PROGRAM) == 0
    assert "Attention" in (out / "docs" / "fidelity.html").read_text(encoding="utf-8")
    assert "<svg" in (out / "docs" / "notebooks" / "1-every-head.html").read_text(encoding="utf-8") or list(
        (out / "_images").glob("*.svg")
    )
    assert "Load a shipped model by its name" in (
        out / "api" / "transformer_core" / "transformer_core.runs.html"
    ).read_text(encoding="utf-8")
    assert foreign(out) == []
    assert main(["docs", f"--out={tmp_path}"], PROGRAM) == 2  # a folder with something else in it


def test_a_site_without_sphinx_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if find_spec("sphinx") is not None:
        pytest.skip("Sphinx is here")
    assert main(["docs", f"--out={tmp_path / 'site'}"], PROGRAM) == 2
    assert ".[docs]" in capsys.readouterr().err
