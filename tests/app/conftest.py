"""The whole app in Streamlit's own test runner, with a checkpoint of random weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

MAIN = Path(__file__).resolve().parents[2] / "viz_app" / "main.py"
SECONDS = 120


@pytest.fixture
def fresh_model() -> Iterator[None]:
    """No test sees the model that another one loaded."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def app(fresh_model: None, random_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app, not run yet."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(random_checkpoint))
    return AppTest.from_file(str(MAIN), default_timeout=SECONDS)
