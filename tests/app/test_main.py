"""The entry point: the app of a checkout that is not installed, whatever folder and page it is opened in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from viz_app.serving.models.registry import ROOT

OPEN = """
import runpy, sys
from streamlit.testing.v1 import AppTest

server = runpy.run_path(sys.argv[1])["app"]
app = AppTest.from_file(str(server.script_path), default_timeout=60).switch_page(sys.argv[2]).run()
assert not app.exception, app.exception
print(*(element.label for element in app.segmented_control), *(element.value for element in app.markdown))
"""


@pytest.mark.parametrize("page", ["lessons", "model"])
@pytest.mark.process
def test_any_page_may_be_the_first_from_any_folder(page: str, tmp_path: Path) -> None:
    here = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", OPEN, str(ROOT / "viz_app" / "main.py"), f"app_pages/{page}.py"]
    done = subprocess.run(command, cwd=tmp_path, env=here, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Language" in done.stdout, "the frame is drawn too"
