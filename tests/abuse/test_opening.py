"""Opening models while processes die, uploads drip, and strangers press the buttons."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from viz_app.serving.opening.opened_models import OpenedModels


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
    attempt, pipe = store._begin("x", "recognise"), subprocess.PIPE
    script = f"import sys, time; sys.stdout.buffer.write({output}); sys.stdout.buffer.flush(); time.sleep(60)"
    if output.endswith("sha'"):
        script = script.replace("time.sleep(60)", "")
    process = attempt.process = subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe)
    started = time.monotonic()
    store._listen(attempt, process)
    assert store.opening is not None and store.opening.problem == "ended" and time.monotonic() - started < 30
    assert process.poll() is not None and not attempt.work.exists()
    store._begin("next", "recognise")
