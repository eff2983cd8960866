"""Every view of attention by its name, with the same parameters for all: for the command line and for pages.

    figure = VIEWS["head"].figure(maps=maps, kind="cross", layer=3, head=5)

Each file of this folder with a `VIEW` is one, and nothing else names it. What a view needs is written into the
provenance of each figure, so that its name and parameters make the figure again.
"""

from __future__ import annotations

from viz_app.figures.build.request import Request
from viz_app.figures.discovery import registry
from viz_app.figures.views.view import View

__all__ = ["VIEWS", "Request", "View", "view_named"]

VIEWS = registry(__name__, "VIEW", View, lambda view: view.name, lambda view: view.order)


def view_named(name: str) -> View:
    """Return a view. Raises ValueError for a name that is not one of VIEWS."""
    if name not in VIEWS:
        raise ValueError(f"view is {name!r}, but must be one of {', '.join(VIEWS)}")
    return VIEWS[name]
