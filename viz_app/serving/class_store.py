"""The classes of this server."""

from __future__ import annotations

from functools import cache

from viz_app.serving.classrooms import Classrooms


@cache
def class_store() -> Classrooms:
    """The one that all sessions and requests share."""
    return Classrooms()
