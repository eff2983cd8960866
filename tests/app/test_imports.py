"""Imports load no browser component, and nothing that is slow before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
    "web.page_routes",
    "web.warm_up",
}
WITHOUT_STREAMLIT = """
import pkgutil, sys
from importlib import import_module
sys.modules["streamlit"] = sys.modules["loky"] = None
import viz_app.serving.cluster.model_server
del sys.modules["loky"]
names = {info.name for info in pkgutil.walk_packages(viz_app.serving.__path__, "viz_app.serving.")}
for name in sorted(names - {f"viz_app.serving.{name}" for name in sys.argv[1:]}):
    import_module(name)
print(len(names))
"""


OWN_FIGURE = (
    "import viz_app.figures as f; g = f.one_head(f.Request(maps=f.own_maps([[[[1.0]]]], ['a'], ['b']), kind='own'))"
)
# Code -> modules that it must not load.
UNLOADED = {
    # A notebook of another project starts fast.
    OWN_FIGURE: {"streamlit", "torch", "matplotlib", "plotly"},
    f"{OWN_FIGURE}; [f.export(g, n) for n in f.formats_of(g)]": {"streamlit", "matplotlib.pyplot", "kaleido"},
    "import viz_app.ui.translate.external_views": {"bertviz", "IPython", "torch", "viz_app.figures.plotly.renderer"},
    # Of the time to the first translation it would be a second.
    "import viz_app.shell; from viz_app.app_pages import translate, lessons, figures, model": {"torch", "matplotlib"},
}


def output_of(code: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()[-1]


def test_no_component_is_read_or_registered_by_an_import() -> None:
    assert int(output_of(LAZY)) > 300


def test_serving_needs_no_streamlit() -> None:
    assert int(output_of(WITHOUT_STREAMLIT, *OF_THE_PAGES)) > 30


@pytest.mark.parametrize("code", UNLOADED)
def test_what_is_slow_is_loaded_when_it_is_needed(code: str) -> None:
    assert output_of(f"import sys; {code}; print({UNLOADED[code]} & set(sys.modules))") == "set()"
