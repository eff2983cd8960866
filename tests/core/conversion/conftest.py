"""Converted twins."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.conversion.twins import Twin


@pytest.fixture(scope="module")
def twin(request: pytest.FixtureRequest, twins: Callable[[str], Twin]) -> Twin:
    """The twin of the family that a test is parametrised with, indirectly."""
    return twins(request.param)
