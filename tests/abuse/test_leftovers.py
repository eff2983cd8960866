"""What killed processes leave in the temporary folder of the machine."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from viz_app.figures import fonts


def test_fonts_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    gone, used = tmp_path / f"headlight-fonts-{killed.pid}-a", tmp_path / f"headlight-fonts-{os.getpid()}-b"
    for folder in (gone, used):
        folder.mkdir()
        (folder / "headlight-sans.ttf").write_bytes(b"font")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with fonts._temporary_folder.__wrapped__() as own:
        assert Path(own).name.startswith(f"headlight-fonts-{os.getpid()}-")
        assert sorted(tmp_path.iterdir()) == sorted((used, Path(own)))
