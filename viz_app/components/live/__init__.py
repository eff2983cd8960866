"""A translator that runs in the reader's browser: the twin of `transformer_core` in JavaScript."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from viz_app.components.modules import join_modules


@cache
def worker_code() -> str:
    """Return the worker as one script; js/service.js has its messages."""
    return join_modules(Path(__file__).parent / "js" / "worker.js")
