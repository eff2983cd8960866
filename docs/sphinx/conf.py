"""Options of Sphinx, for the command `docs`, which copies guides and packages to a folder first."""

from pathlib import Path

_SOURCE = Path(__file__).parents[2]
_API = {"__init__.py", "figures", "notebook", "standalone"}  # of the app: the rest is called by its pages alone
_HIDDEN = [str(path) for path in (_SOURCE / "viz_app").iterdir() if path.name not in _API]

project = "Headlight"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.apidoc"]
include_patterns = ["*.md", "docs/**", "api/**"]
exclude_patterns = ["api/*/modules.rst", "docs/notebooks/.ipynb_checkpoints", "docs/sphinx/**"]
html_theme = "furo"
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # else from a server
myst_heading_anchors = 4
apidoc_separate_modules = True
apidoc_modules = [
    {
        "path": str(_SOURCE / name),
        "destination": f"api/{name}",
        "exclude_patterns": [*_HIDDEN, f"{_SOURCE}/transformer_core/__main__.py"],
    }
    for name in ("transformer_core", "viz_app")
]
suppress_warnings = ["myst.xref_missing", "misc.highlighting_failure", "ref.python"]
