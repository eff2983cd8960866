"""Files for download are drawn in turn, whichever page offers them, and nothing large is kept for them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import is_dataclass
from functools import partial
from pathlib import Path
from types import MethodType
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.app.mounted import opened
from transformer_core.attention_maps import AttentionMaps
from transformer_core.cli import main
from viz_app.cli import PROGRAM
from viz_app.export import recorded
from viz_app.figure_editor.rendering import RenderCache
from viz_app.serving.models.loader import get_translation_service


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Makers of the file of each button, by its key."""
    makers: dict[str, Any] = {}
    monkeypatch.setattr(
        st, "download_button", lambda label, *, data, key="", **options: makers.update({key or label: data})
    )
    return makers


@pytest.mark.parametrize(("page", "params"), [("translate", {}), ("figures", {}), ("lessons", {"lesson": "heads"})])
def test_every_file_takes_its_turn(app: AppTest, made: dict[str, Any], page: str, params: dict[str, str]) -> None:
    """One that does not would take the drawing away from all who wait for theirs."""
    app.query_params.update(params)
    app.run().switch_page(f"app_pages/{page}.py").run()
    assert made and not app.error
    for make in made.values():
        assert isinstance(make, partial) and isinstance(getattr(make.func, "__self__", None), RenderCache)


def test_no_file_that_may_be_asked_for_keeps_the_maps_of_all_heads(app: AppTest, made: dict[str, Any]) -> None:
    """They are megabytes of each session; the cache holds them for all, up to its size."""
    app.run()
    assert made and not [each for make in made.values() for each in held_by(make) if isinstance(each, AttentionMaps)]


def held_by(value: object) -> Iterator[object]:
    """A value and what it leads to: arguments of a function, fields, parts."""
    yield value
    parts: Iterable[object] = ()
    if isinstance(value, partial):
        parts = (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, MethodType):
        parts = () if isinstance(value.__self__, RenderCache) else (value.__self__,)
    elif is_dataclass(value):
        parts = vars(value).values()  # what was cached beside the fields, too
    elif isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, list | tuple):
        parts = value
    for part in parts:
        yield from held_by(part)


def test_the_page_is_that_of_the_command(app: AppTest, made: dict[str, Any], tmp_path: Path) -> None:
    opened(app, text="The dog.", lang="ko")
    checkpoint, out = get_translation_service().translator.checkpoint, tmp_path / "page.html"
    assert checkpoint is not None
    options = ["--text=The dog.", "--language=ko", f"--out={out}"]
    assert main(["page", f"--checkpoint={checkpoint.folder}", *options], PROGRAM) == 0
    assert made["download-page"].args[-1](nullcontext) == out.read_bytes()


def test_the_zip_is_of_the_head_that_is_shown(
    app: AppTest, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "export", lambda *_, **__: b"")
    opened(app, text="The dog.", head="decoder.2.4", lang="ko")
    with zipfile.ZipFile(io.BytesIO(made["download-everything"].args[-1](nullcontext))) as archive:
        index = json.loads(archive.read("index.json"))
    first = index["figures"][0]
    wanted = {"name": "head", "kind": "decoder", "layer": 1, "head": 3, "unit": "tokens"}
    assert first["provenance"]["view"].items() >= wanted.items()
    assert (first["language"], first["provenance"]["source"]) == ("ko", "The dog.")
