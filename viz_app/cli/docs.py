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

from transformer_core import __version__
from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.storage.files import atomic_directory, contents, write_contents

log = logging.getLogger(__name__)

_ROOT = Path(__file__).parents[2]
_COPIED = ("docs", "transformer_core", "viz_app")


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("--out DIR")
    parser.add_output_folder("Folder to write.", "site", contents)


def run(options: Options) -> int:
    """Build the site."""
    try:
        from sphinx.application import Sphinx
    except ImportError:
        raise UsageError('docs needs Sphinx: python -m pip install ".[docs]"') from None
    if not (_ROOT / "docs").is_dir():
        raise UsageError("docs needs a clone of the repository: the installed packages hold no guides")
    with tempfile.TemporaryDirectory() as folder, atomic_directory(options.out) as out:
        source = Path(folder)
        for path in [*_ROOT.glob("*.md"), *(_ROOT / name for name in _COPIED)]:
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, source / path.name)
        settings = source / "docs" / "sphinx"
        shutil.copy(settings / "index.md", source)
        app = Sphinx(source, settings, out, source / "doctrees", "html", status=None)
        app.build()
        write_contents(out, headlight=__version__)
    log.info("%s: open %s", options.out, options.out / "index.html")
    return app.statuscode
