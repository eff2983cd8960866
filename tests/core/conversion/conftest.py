"""Converted twins, each made once for a file of tests."""

from __future__ import annotations

import pytest

from tests.core.conversion.families import TWINS
from tests.core.conversion.twins import Twin


@pytest.fixture(scope="module")
def twin(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Twin:
    """The twin of the family that a test is parametrised with, indirectly."""
    return TWINS[request.param](tmp_path_factory.mktemp("twin"))
