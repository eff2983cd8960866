"""A visitor at a bench of the Lab."""

from __future__ import annotations

import dataclasses

import pytest

from tests.app.lessons.conftest import Visit
from viz_app.lessons.context import LessonContext
from viz_app.lessons.stage import LessonState


@pytest.fixture(scope="module")
def context(visit: Visit, request: pytest.FixtureRequest) -> LessonContext:
    """At the bench that the module tests: `test_off.py` tests `off`."""
    return visit(request.module.__name__.rpartition("test_")[2])


def at(context: LessonContext, **settings: float | str | bool) -> LessonContext:
    """Give a visitor other settings."""
    return dataclasses.replace(context, state=LessonState(context.state.scene, settings))
