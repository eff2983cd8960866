"""The page Figures with a parser: its tree, the controls of it, and what a translator is offered."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.app_pages.test_figures import address, command, figures
from transformer_core.cli import main
from viz_app.cli import PROGRAM
from viz_app.text import texts

TEXT = "The dog sleeps ."


@pytest.fixture
def app(app_with_parser: AppTest) -> AppTest:
    return app_with_parser


def test_a_parsers_tree_with_its_attention_and_probabilities(
    app: AppTest, parser_checkpoint: Path, language: str
) -> None:
    figures(app, model=parser_checkpoint.name, lang=language, figure="tree", text=TEXT)
    assert not app.error
    assert app.selectbox(key=f"figures-{language}-view").value == "tree" and len(app.get("image")) == 1
    assert "--view=tree" in command(app) and "--step" not in command(app)
    app.selectbox(key=f"figures-{language}-step").set_value(2).run()
    next(box for box in app.checkbox if box.label == texts(language)("figures_page.confidence")).check().run()
    assert not app.error
    assert {"--view=tree", "--step=2", "--confidence=true"} <= set(command(app).split())
    assert address(app)["confidence"] == "on" and address(app)["step"] == "2"


def test_the_zip_of_a_parsers_sentence_holds_its_tree(parser_checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.zip"
    command = ["export", "--set=sentence", f"--checkpoint={parser_checkpoint}", "--text=The dog sleeps."]
    assert main([*command, f"--out={out}", "--format=svg,json", "--beam=2", "--language=ko"], PROGRAM) == 0
    with zipfile.ZipFile(BytesIO(out.read_bytes())) as archive:
        assert {"svg/headlight_tree.svg", "json/headlight_tree.json"} <= {*archive.namelist()}
        assert "구문 트리" in archive.read("index.html").decode()
