"""Repeat a request whose answer was lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

_log = logging.getLogger(__name__)

Value = TypeVar("Value")


def retry(
    ask: Callable[[], Value],
    errors: tuple[type[Exception], ...],
    pauses: Sequence[float],
    wait: Callable[[float], None] = time.sleep,
) -> Value:
    """Call `ask`, and again after each pause while it raises one of the errors; the last error is raised."""
    for pause in pauses:
        try:
            return ask()
        except errors as error:
            _log.warning("asking again: %s: %s", type(error).__name__, error)
            wait(pause)
    return ask()
