"""What does not end in time leaves the Lab in place, and can be computed again."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from viz_app.lessons.labels import labels
from viz_app.serving import loader

T = labels("en")


def test_a_deadline_leaves_the_stage_and_says_why(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    app.run()
    service = loader.get_translation_service()
    with monkeypatch.context() as late:
        late.setattr(service, "deadline", -1.0)
        app.switch_page("app_pages/lab.py").run()
    assert not app.error and not app.exception
    assert T("lesson_lab.late") in [each.value for each in app.caption]
    app.button(key="lab-compute").click().run()
    assert not app.error and T("lesson_lab.late") not in [each.value for each in app.caption]
