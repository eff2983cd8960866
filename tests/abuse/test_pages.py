"""One folder that cannot be read is one line on the page Model, and nothing on any other page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import MAIN, SECONDS
from viz_app.text import texts


def test_a_bad_folder_is_one_line(random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(random_checkpoint, tmp_path / "stranger")
    (tmp_path / "stranger" / "metrics.json").write_text('{"a":' * 200_000, encoding="utf-8")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(random_checkpoint))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path / "stranger"))
    page = AppTest.from_file(str(MAIN), default_timeout=SECONDS).run()
    assert not page.exception and not page.error
    assert not [each for each in page.warning if "stranger" in each.value]
    page.switch_page("app_pages/model.py").run()
    assert not page.exception and not page.error
    (line,) = [each.value for each in page.warning if "stranger" in each.value]
    assert line.startswith(texts("en")("models.unreadable", name="stranger", problem="")[:-1])
    assert str(tmp_path) not in line
