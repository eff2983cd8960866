"""Fuzzing: the cases of the corpus, and a few new ones of each target; with HEADLIGHT_FUZZ=N, N random ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.abuse.model_files import remove_copies
from tests.abuse.target import Target
from tests.abuse.targets import TARGETS

EXAMPLES = int(os.environ.get("HEADLIGHT_FUZZ", "0"))


@pytest.fixture(scope="module", autouse=True)
def copies() -> Iterator[None]:
    yield
    remove_copies()


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_what_fell_out_once_does_not_again(target: Target) -> None:
    assert target.corpus
    for case in target.corpus:
        target.run(case)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_only_documented_errors(target: Target) -> None:
    @settings(
        max_examples=EXAMPLES or 25,
        derandomize=not EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=target.cases)
    def run(case: Any) -> None:
        target.run(case)

    run()
