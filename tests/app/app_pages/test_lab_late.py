"""What does not end in time leaves the Lab in place, and can be computed again."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import mounted
from viz_app.components.buffer import split_buffer
from viz_app.serving.models import loader


def lab_values(app: AppTest) -> dict[str, Any]:
    """What the stage of the Lab is told."""
    values: dict[str, Any] = split_buffer(mounted(app)["headlight_lesson"])[0]["values"]
    return values


def test_a_deadline_leaves_the_stage_and_says_why(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    app.run()
    service = loader.get_translation_service()
    with monkeypatch.context() as late:
        late.setattr(service, "deadline", -1.0)
        app.switch_page("app_pages/lab.py").run()
    assert not app.error
    assert lab_values(app)["bench"] is None and lab_values(app)["late"]
    app.run()
    assert lab_values(app)["late"], "it is not computed again by itself"
    app.button(key="lab-compute").click().run()
    assert not app.error and lab_values(app)["bench"] == "off" and not lab_values(app)["late"]
