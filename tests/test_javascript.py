"""The unit tests of the JavaScript, in tests/javascript, as part of the test command."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

FOLDER = Path(__file__).with_name("javascript")


def test_javascript_computes_what_it_should(node: str) -> None:
    files = sorted(FOLDER.glob("*.test.js"))
    done = subprocess.run([node, "--test", *files], capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^\S+ pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed and int(passed[1]) >= len(files), "no test ran"
