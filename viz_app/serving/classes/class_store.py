"""Store of the classes: in this server, or in the model server that several front ends share."""

from __future__ import annotations

from functools import cache
from typing import cast

from viz_app.serving.classes.classrooms import Classrooms
from viz_app.serving.classes.remote_classrooms import RemoteClassrooms
from viz_app.serving.settings import model_server


@cache
def class_store() -> Classrooms:
    """Return the store that all sessions and requests share. Raises SettingError."""
    server = model_server()
    return Classrooms() if server is None else cast(Classrooms, RemoteClassrooms(server))
