"""Build the documentation as a folder of HTML pages: the guides, the notebooks, and the docstrings of the packages.

The pages load nothing from the network. Needs a clone of the repository, and Sphinx: pip install ".[docs]".

Example:
  python -m viz_app docs --out site
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from pathlib import Path
from typing import Any

from transformer_core.cli.arguments import Options, Parser, UsageError

log = logging.getLogger(__name__)

_ROOT = Path(__file__).parents[2]
_PACKAGES = ("transformer_core", "viz_app")
_INDEX = """# Headlight

```{toctree}
:caption: Guides
:glob:

README
docs/*
CONTRIBUTING
SECURITY
CHANGELOG
```

```{toctree}
:caption: Notebooks
:glob:

docs/notebooks/*
```

```{toctree}
:caption: Python

api/transformer_core/transformer_core
api/viz_app/viz_app
```
"""
_API = {"__init__.py", "figures", "notebook", "standalone"}  # of the app: the rest is called by its pages alone
_OPTIONS: dict[str, Any] = {
    "project": "Headlight",
    "extensions": ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.apidoc"],
    "include_patterns": ["*.md", "docs/**", "api/**"],
    "exclude_patterns": ["api/*/modules.rst", "docs/notebooks/.ipynb_checkpoints"],
    "html_theme": "furo",
    "nb_execution_mode": "off",
    "nb_ipywidgets_js": {},  # else from a server
    "myst_heading_anchors": 4,
    "apidoc_separate_modules": True,
    "suppress_warnings": ["myst.xref_missing", "misc.highlighting_failure", "ref.python"],
}


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("--out DIR")
    parser.add_output_folder("Folder to write.", "site", lambda folder: (folder / "searchindex.js").is_file())


def run(options: Options) -> int:
    """Build the site."""
    try:
        from sphinx.application import Sphinx
    except ImportError:
        raise UsageError('docs needs Sphinx: python -m pip install ".[docs]"') from None
    if not (_ROOT / "docs").is_dir():
        raise UsageError("docs needs a clone of the repository: the installed packages hold no guides")
    out = Path(options.out)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        for path in [*_ROOT.glob("*.md"), *(_ROOT / name for name in ("docs", *_PACKAGES))]:
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, source / path.name)
        (source / "index.md").write_text(_INDEX, encoding="utf-8")
        hidden = [str(path) for path in (source / "viz_app").iterdir() if path.name not in _API]
        hidden.append(f"{source}/transformer_core/__main__.py")
        modules = [
            {"path": source / name, "destination": f"api/{name}", "exclude_patterns": hidden} for name in _PACKAGES
        ]
        told = {**_OPTIONS, "apidoc_modules": modules}
        app = Sphinx(source, None, out, source / "doctrees", "html", told, status=None)
        app.build()
    log.info("%s: open %s", out, out / "index.html")
    return app.statuscode
