"""The classes of a model server, for front ends that share them."""

from __future__ import annotations

import http.client
import time
from typing import Any

import msgspec

from viz_app.serving.classes.class_messages import FAILED, MAX_RESULT_BYTES, result_of
from viz_app.serving.classes.classrooms import ClassView, Place, PollResult, Question, State
from viz_app.serving.server_address import CLASSES_PATH

_OK = 200
_SECONDS = 5.0
_PAUSES = (0.1, 0.5)  # seconds before asking again, once each: every call may be made twice without harm


class ClassServerAway(RuntimeError):
    """The server that holds the classes does not answer."""


class RemoteClassrooms:
    """The same methods as `viz_app.serving.classes.classrooms.Classrooms`, which say what they do and raise.

    Args:
        server: Host and port of the model server.

    Raises:
        ClassServerAway: from each method, when the server does not answer.
    """

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server

    def open(self, owner: str, address: str = "") -> str:
        """See `Classrooms`."""
        code: str = self._call("open", owner, address)
        return code

    def code_of(self, owner: str) -> str | None:
        """See `Classrooms`."""
        code: str | None = self._call("code_of", owner)
        return code

    def ask(self, code: str, owner: str, question: Question) -> None:
        """See `Classrooms`."""
        self._call("ask", code, owner, question)

    def set_state(self, code: str, owner: str, state: State) -> None:
        """See `Classrooms`."""
        self._call("set_state", code, owner, state)

    def answer(self, code: str, browser: str, poll: int, option: int) -> None:
        """See `Classrooms`."""
        self._call("answer", code, browser, poll, option)

    def look(self, code: str, browser: str) -> ClassView:
        """See `Classrooms`."""
        view: ClassView = self._call("look", code, browser)
        return view

    def lead(self, code: str, owner: str, is_led: bool) -> None:
        """See `Classrooms`."""
        self._call("lead", code, owner, is_led)

    def show_place(self, code: str, owner: str, place: Place) -> None:
        """See `Classrooms`."""
        self._call("show_place", code, owner, place)

    def results(self, code: str, owner: str) -> tuple[PollResult, ...]:
        """See `Classrooms`."""
        found: tuple[PollResult, ...] = self._call("results", code, owner)
        return found

    def end(self, code: str, owner: str) -> None:
        """See `Classrooms`."""
        self._call("end", code, owner)

    def _call(self, method: str, *arguments: object) -> Any:
        data = msgspec.json.encode(arguments)
        for pause in (*_PAUSES, None):
            try:
                return self._ask(method, data)
            except (OSError, http.client.HTTPException, msgspec.DecodeError, UnicodeError) as error:
                if pause is None:
                    raise ClassServerAway(f"no answer to {method}: {type(error).__name__}: {error}") from error
            time.sleep(pause)
        raise AssertionError("the last try has no pause after it")

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
