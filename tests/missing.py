"""What a test needs and this machine lacks."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def skip_or_fail(message: str) -> NoReturn:
    """Skip the test; fail it when CI=true, so that nobody takes a skipped suite for a passed one."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(message)
    pytest.skip(message)
