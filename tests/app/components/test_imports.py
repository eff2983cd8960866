"""Importing the app registers no browser component and reads none; most of serving needs no Streamlit."""

from __future__ import annotations

import subprocess
import sys

from viz_app.serving.models.registry import ROOT

LAZY = """
import pkgutil, sys
from importlib import import_module
from pathlib import Path
import streamlit

def refuse(*arguments, **options):
    raise AssertionError(arguments)

def read_text(path, *arguments, **options):
    assert path.suffix not in (".js", ".css"), path
    return read(path, *arguments, **options)

read, Path.read_text = Path.read_text, read_text
streamlit.components.v2.component = refuse
import viz_app
names = [info.name for info in pkgutil.walk_packages(viz_app.__path__, "viz_app.")]
for name in names:
    if name.rpartition(".")[2] not in ("__main__", "main", "page_script"):  # programs
        import_module(name)
print(len(names))
"""

# Modules of the server that Streamlit runs, and what loads a model for its pages.
OF_THE_PAGES = {
    "models.comparison",
    "models.loader",
    "opening.opened_models",
    "scheduling.visitor",
    "streamlit_patches",
    "web.health",
    "web.middleware",
    "web.warm_up",
}
WITHOUT_STREAMLIT = """
import pkgutil, sys
from importlib import import_module
sys.modules["streamlit"] = None
import viz_app.serving
names = {info.name for info in pkgutil.walk_packages(viz_app.serving.__path__, "viz_app.serving.")}
for name in sorted(names - {f"viz_app.serving.{name}" for name in sys.argv[1:]}):
    import_module(name)
print(len(names))
"""


def modules_of(code: str, *arguments: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stdout.splitlines()[-1])


def test_no_component_is_read_or_registered_by_an_import() -> None:
    assert modules_of(LAZY) > 300


def test_serving_needs_no_streamlit() -> None:
    assert modules_of(WITHOUT_STREAMLIT, *OF_THE_PAGES) > 30
