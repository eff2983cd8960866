"""Files for download are drawn in turn, whichever page offers them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from viz_app.figure_editor.rendering import RenderCache

pytestmark = pytest.mark.usefixtures("fresh_model")


@pytest.mark.parametrize(("page", "params"), [("translate", {}), ("figures", {}), ("lessons", {"lesson": "heads"})])
def test_every_file_takes_its_turn(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, page: str, params: dict[str, str]
) -> None:
    """One that does not would take the drawing away from all who wait for theirs."""
    buttons: list[Any] = []
    monkeypatch.setattr(st, "download_button", lambda *args, data, **options: buttons.append(data))
    app.query_params.update(params)
    app.run().switch_page(f"app_pages/{page}.py").run()
    assert buttons and not app.exception and not app.error
    for make in buttons:
        assert isinstance(make, partial) and isinstance(getattr(make.func, "__self__", None), RenderCache)
