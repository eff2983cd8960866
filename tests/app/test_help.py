"""The help of python -m viz_app waits for neither torch nor Streamlit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from viz_app.cli import PROGRAM

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import runpy, sys
sys.argv[1:] = {arguments}
try:
    runpy.run_module("viz_app", run_name="__main__")
except SystemExit as end:
    assert not end.code, end.code
print("imported:", *sorted({{"torch", "streamlit", "safetensors.torch"}} & set(sys.modules)))
"""


@pytest.mark.parametrize("command", ["", *PROGRAM.commands])
def test_help_imports_neither_torch_nor_streamlit(command: str) -> None:
    code = CODE.format(arguments=[*filter(None, [command]), "--help"])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    output = done.stdout.splitlines()
    assert output[0].startswith(f"usage: python -m viz_app {command}"), done.stdout
    assert output[-1].strip() == "imported:"
