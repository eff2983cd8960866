"""Opening models while processes die and strangers press the buttons; a folder that cannot be read."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import MAIN, SECONDS
from viz_app.serving.models import registry
from viz_app.serving.opening import opening_process
from viz_app.serving.opening.open_error import OpenError
from viz_app.serving.opening.opened_models import OpenedModels
from viz_app.text import texts
from viz_app.ui.model import open_model

T = texts("en")
OWNER, STRANGER = "a" * 32, "b" * 32


@pytest.fixture
def store(tmp_path: Path) -> Iterator[OpenedModels]:
    opened = OpenedModels(tmp_path)
    yield opened
    opened.close()
    assert list(tmp_path.iterdir()) == [], "nothing is left"


@pytest.mark.parametrize(
    "output",
    [
        """b'{"step":"convert","sha'""",  # killed in the middle of a line
        """b'{"step":"' + b'x' * 2_000_000 + b'"}\\n'""",
        """b'{"step":"\\xff"}\\n'""",
        """b'[' * 100_000 + b'\\n'""",
        """b'{"step":1}\\n'""",
    ],
    ids=["half", "long", "bytes", "deep", "kind"],
)
def test_an_opening_whose_process_talks_nonsense_has_failed(store: OpenedModels, output: str) -> None:
    """And the next one may begin: the process is ended, though it would sleep for long."""
    attempt, pipe = store._begin("x", ""), subprocess.PIPE
    script = f"import sys, time; sys.stdout.buffer.write({output}); sys.stdout.buffer.flush(); time.sleep(60)"
    if output.endswith("sha'"):
        script = script.replace("time.sleep(60)", "")
    process = attempt.process = subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe)
    started = time.monotonic()
    store._listen(attempt, process)
    assert store.opening is not None and store.opening.problem == "ended" and time.monotonic() - started < 30
    assert process.poll() is not None and not attempt.work.exists()
    store._begin("next", "")


@pytest.fixture
def page(
    store: OpenedModels, random_checkpoint: Path, french_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> AppTest:
    """The page Model of a server with a model that OWNER has opened, and another one on its way."""
    for module in (open_model, registry):
        monkeypatch.setattr(module, "opened_models", lambda: store)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(random_checkpoint))
    monkeypatch.setenv("HEADLIGHT_MODELS", str(random_checkpoint.parent))
    store._begin("french", OWNER)
    store.stop()
    store._reports["french"] = opening_process._report(french_checkpoint)
    store._begin("next", OWNER)
    return AppTest.from_file(str(MAIN), default_timeout=SECONDS).run()


def seen_by(page: AppTest, monkeypatch: pytest.MonkeyPatch, browser: str, *, is_own: bool = False) -> AppTest:
    """The page as a browser sees it."""
    monkeypatch.setattr(open_model, "current_browser", lambda: browser)
    monkeypatch.setattr(open_model, "is_own_computer", lambda: is_own)
    return page.switch_page("app_pages/model.py").run()


@pytest.mark.parametrize(("browser", "is_own"), [(OWNER, False), (STRANGER, True)], ids=["owner", "own computer"])
def test_only_the_owner_stops_dismisses_and_removes(
    page: AppTest, store: OpenedModels, monkeypatch: pytest.MonkeyPatch, browser: str, is_own: bool
) -> None:
    failed = T("open_model.problem_interrupted")
    for key in ("open-model-stop", "remove-french"):
        assert seen_by(page, monkeypatch, STRANGER).button(key=key).disabled
        button = seen_by(page, monkeypatch, OWNER).button(key=key)
        monkeypatch.setattr(open_model, "current_browser", lambda: STRANGER)  # as if the model were another one by now
        button.click().run()
    assert [store.opening and store.opening.name, *store.models] == ["next", "french"]
    seen_by(page, monkeypatch, browser, is_own=is_own)
    page.button(key="open-model-stop").click().run()
    assert store.opening is None
    store._fail(store._begin("third", OWNER), OpenError("interrupted"))
    seen_by(page, monkeypatch, STRANGER)
    assert failed not in [each.value for each in page.error]
    page.session_state["open_model_refused"] = OpenError("busy")
    page.run().button(key="open-model-dismiss").click().run()  # of the stranger's own message only
    seen_by(page, monkeypatch, browser, is_own=is_own)
    assert failed in [each.value for each in page.error]
    page.button(key="open-model-dismiss").click().run()
    assert store.opening is None
    page.button(key="remove-french").click().run()
    assert not store.models


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
