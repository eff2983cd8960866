"""Store of the classes: in this server, or in the model server that several front ends share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import cast

from viz_app.serving.browser_cookie import sign_with
from viz_app.serving.classes.classrooms import Classrooms, keep_in_file
from viz_app.serving.classes.remote_classrooms import ClassServerAway, RemoteClassrooms
from viz_app.serving.settings import SettingError, model_server

_SECONDS = 10.0  # between two questions for the secret of the cookies


@cache
def class_store() -> Classrooms:
    """Return the store that all sessions and requests share. Raises SettingError."""
    server = model_server()
    return Classrooms() if server is None else cast(Classrooms, RemoteClassrooms(server))


def start_classes(server: str) -> Callable[[], None]:
    """Restore the classes of this server, and sign cookies with a secret that survives a restart.

    Args:
        server: Name of this server, the same at its next start: its port.

    Returns:
        The function that saves the classes at the server's end.
    """
    try:
        store = class_store()
    except SettingError:  # the pages show it
        return lambda: None
    if isinstance(store, RemoteClassrooms):
        threading.Thread(target=_follow_secret, args=(store,), name="cookie-secret", daemon=True).start()
        return lambda: None
    save = keep_in_file(store, server)
    sign_with(store.cookie_secret())
    return save


def _follow_secret(store: RemoteClassrooms) -> None:
    """Sign cookies as all front ends of a model server do, even after its restart."""
    while True:
        with suppress(ClassServerAway):
            sign_with(store.cookie_secret())
        time.sleep(_SECONDS)
