"""The page Figures with a parser: its tree, the controls of it, and what a translator is offered."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.app_pages.test_figures import address, command, opened
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
    app.query_params.update(model=parser_checkpoint.name, lang=language)
    opened(app, figure="tree", text=TEXT)
    assert not app.error
    assert app.selectbox(key=f"figures-{language}-view").value == "tree" and len(app.get("image")) == 1
    assert "--view=tree" in command(app) and "--step" not in command(app)
    app.selectbox(key=f"figures-{language}-step").set_value(2).run()
    next(box for box in app.checkbox if box.label == texts(language)("figures_page.confidence")).check().run()
    assert not app.error
    assert {"--view=tree", "--step=2", "--confidence=true"} <= set(command(app).split())
    assert address(app)["confidence"] == "on" and address(app)["step"] == "2"


def test_a_translator_is_not_offered_a_tree(app: AppTest) -> None:
    opened(app, figure="tree", text="The dog.")
    choice = app.selectbox(key="figures-en-view")
    assert not app.error
    assert choice.value == "head" and texts("en")("figures_page.view_tree") not in choice.options


def test_the_zip_of_a_parsers_sentence_holds_its_tree(parser_checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.zip"
    command = [
        "export",
        "--set=sentence",
        f"--checkpoint={parser_checkpoint}",
        "--text=The dog sleeps.",
        f"--out={out}",
    ]
    assert main([*command, "--beam=2", "--language=ko"], PROGRAM) == 0
    with zipfile.ZipFile(BytesIO(out.read_bytes())) as archive:
        names = archive.namelist()
        assert {f"{format}/headlight_tree.{format}" for format in ("pdf", "svg", "png", "csv", "npz", "json")} <= {
            *names
        }
        assert "구문 트리" in archive.read("index.html").decode()
