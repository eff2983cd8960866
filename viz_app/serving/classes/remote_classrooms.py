"""Classes of a model server, for front ends that share them."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from functools import partial
from typing import Any

from viz_app.serving.checked_json import READ_ERRORS
from viz_app.serving.classes.class_messages import FAILED, MAX_RESULT_BYTES, METHODS, result_of, to_call
from viz_app.serving.retry import retry
from viz_app.serving.server_address import CLASSES_PATH

_OK = 200
_SECONDS = 5.0
_LOST = (OSError, http.client.HTTPException, *READ_ERRORS)
_PAUSES = (0.1, 0.5)  # seconds before the second and the third try: a repeated call does no harm


class ClassServerAway(RuntimeError):
    """The server that holds the classes does not answer."""


class RemoteClassrooms:
    """Proxy with the methods of `viz_app.serving.classes.classrooms.Classrooms`.

    Args:
        server: Host and port of the model server.

    Raises:
        ClassServerAway: From each method, when the server does not answer.
    """

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method not in METHODS:
            raise AttributeError(method)
        return partial(self._call, method)

    def _call(self, method: str, *arguments: object) -> Any:
        data = to_call(method, *arguments)
        try:
            return retry(lambda: self._ask(method, data), _LOST, _PAUSES)
        except _LOST as error:
            raise ClassServerAway(f"no answer to {method}: {type(error).__name__}: {error}") from error

    def _ask(self, method: str, data: bytes) -> Any:
        connection = http.client.HTTPConnection(*self._server, timeout=_SECONDS)
        try:
            connection.request("POST", f"{CLASSES_PATH}/{method}", data, {"Content-Type": "application/json"})
            response = connection.getresponse()
            body = response.read(MAX_RESULT_BYTES)
        finally:
            connection.close()
        if response.status not in (_OK, FAILED):
            raise http.client.HTTPException(f"status {response.status}")
        return result_of(method, body, failed=response.status == FAILED)
