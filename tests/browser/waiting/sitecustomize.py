"""Make a server wait where Streamlit may replace a run, so that races that a quick machine hides show.

    HEADLIGHT_WAIT_MS=120 python -m pytest tests/browser

puts this folder on the path of the servers of browser tests (`tests/browser/served.py`). At three of ten such points a
run sleeps for up to so many milliseconds.
"""

from __future__ import annotations

import os
import random
import time

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

_SHARE = 0.3
_longest = float(os.environ["HEADLIGHT_WAIT_MS"]) / 1000
_drawn = random.Random(0)
_check = ScriptRunner._maybe_handle_execution_control_request


def _wait_and_check(runner: ScriptRunner) -> None:
    if runner._execing and _drawn.random() < _SHARE:
        time.sleep(_drawn.random() * _longest)
    _check(runner)


ScriptRunner._maybe_handle_execution_control_request = _wait_and_check  # type: ignore[assignment,method-assign]
