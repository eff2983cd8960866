r"""Write the site: all models, lessons and questions as a folder of pages for any web host, with no server behind it.

The pages are in English and Korean, light or dark as the reader's system. Once opened over TLS, they also open
offline. They ask no other server for anything. The lessons use the first model.

Example:
  python -m viz_app site --out site

  python -m viz_app site --checkpoint checkpoints/en-fr-small checkpoints/en-tree --out site

  python -m viz_app site --address https://example.org/heads/ --out site
"""

from __future__ import annotations

import argparse
import logging
import re

from transformer_core import __version__
from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.storage.files import atomic_directory, contents, write_contents
from viz_app.cli.service import load_service

log = logging.getLogger(__name__)

MODELS = ("checkpoints/en-de", "checkpoints/en-fr", "checkpoints/en-fr-small", "checkpoints/en-tree")
_ADDRESS = re.compile(r"https?://[a-z0-9.-]+(:\d{1,5})?(/[\w.~-]+)*/?", re.ASCII | re.IGNORECASE)
_MAX_ADDRESS = 200


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.set_usage("[--checkpoint DIR ...] --out DIR")
    about = f"The models. (default: {' '.join(MODELS)})"
    parser.add_path("--checkpoint", about, form="DIR", many=True, read=find_checkpoint)
    about = "Where it will be: writes sitemap.xml, robots.txt and the canonical address of every page."
    parser.add_argument("--address", type=_address, default="", metavar="URL", help=about)
    parser.add_output_folder("Folder to write.", "site", contents)


def run(options: Options) -> int:
    """Write the site."""
    from viz_app.standalone.site import write_site

    services = [load_service(each) for each in options.checkpoint or map(find_checkpoint, MODELS)]
    names = [service.name for service in services]
    if len({*names}) < len(names) or not all(re.fullmatch(r"[\w.-]+", name, re.ASCII) for name in names):
        raise UsageError("--checkpoint: each folder needs a name of its own, of letters, digits, dots and dashes")
    with atomic_directory(options.out) as folder:
        write_site(folder, services, options.address)
        write_contents(folder, headlight=__version__)
    log.info("%s: try it with python -m http.server --directory %s", options.out, options.out)
    return 0


def _address(text: str) -> str:
    """Read the address of a folder, which ends with a slash."""
    if len(text) > _MAX_ADDRESS or not _ADDRESS.fullmatch(text):
        raise argparse.ArgumentTypeError(f"is {text!r}, but must be as https://example.org/heads/")
    return text if text.endswith("/") else f"{text}/"
