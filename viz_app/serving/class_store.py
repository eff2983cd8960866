"""The classes of this server."""

from __future__ import annotations

from functools import cache

from viz_app.serving.classrooms import Classrooms
from viz_app.serving.remote_classrooms import RemoteClassrooms


@cache
def class_store() -> Classrooms | RemoteClassrooms:
    """The one that all sessions and requests share."""
    return Classrooms()
