r"""Write the site: all models, lessons and questions as a folder of pages for any web host, with no server behind it.

The pages are in English and Korean, light or dark as the reader's system. Once opened over TLS, they also open
offline. They ask no other server for anything. The lessons use the first model.

Example:
  python -m viz_app site --out site

  python -m viz_app site --checkpoint checkpoints/en-fr-small --checkpoint checkpoints/en-tree --out site
"""

from __future__ import annotations

import logging

from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.storage.files import atomic_directory
from viz_app.cli.lesson import load_service

log = logging.getLogger(__name__)

MODELS = ("checkpoints/en-de", "checkpoints/en-fr", "checkpoints/en-fr-small", "checkpoints/en-tree")
MAX_MODELS = 16


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    from viz_app.standalone.site_folder import SERVICE_WORKER

    parser.set_usage("[--checkpoint DIR ...] --out DIR")
    about = f"A model; may be given again. (default: {', '.join(MODELS)})"
    parser.add_argument("--checkpoint", type=find_checkpoint, action="append", metavar="DIR", help=about)
    parser.add_output_folder("Folder to write.", "site", lambda folder: (folder / SERVICE_WORKER).is_file())


def run(options: Options) -> int:
    """Write the site."""
    from viz_app.standalone.document import PageTooLarge
    from viz_app.standalone.site import write_site

    given = options.checkpoint or list(map(find_checkpoint, MODELS))
    if len(given) > MAX_MODELS:
        raise UsageError(f"--checkpoint: a site has at most {MAX_MODELS} models")
    services = [load_service(each) for each in given]
    names = [service.name for service in services]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"--checkpoint: two models are called {twice[0]}; rename one of the folders")
    try:
        with atomic_directory(options.out) as folder:
            write_site(folder, services)
    except PageTooLarge as error:
        raise UsageError(str(error)) from error
    log.info("%s: open %s over HTTP, such as with python -m http.server", options.out, "index.html")
    return 0
