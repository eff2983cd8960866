"""The dialog of other views through Streamlit's own test runner: closed, open, in the address, too long."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.app_pages.test_pages import press_tool
from tests.app.mounted import address, mounted, opened
from tests.app.read_html import Page
from viz_app.explorer_view.external_views import MAX_WEIGHTS
from viz_app.text import texts


@pytest.fixture
def app(app: AppTest) -> AppTest:
    """The app with no tool of the menu open."""
    del app.session_state["tool"]
    return app


def document_of(app: AppTest) -> dict[str, Any]:
    """The data in the BertViz document that the page shows."""
    return Page(mounted(app)["headlight_bertviz"]["document"]).data


def test_closed_it_sends_nothing_and_opened_it_shows_the_selected_head_in_plotly(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("computed although the dialog is closed")

    with monkeypatch.context() as closed:
        closed.setattr("viz_app.components.bertviz_frame.document.bertviz_document", fail)
        closed.setattr("viz_app.figures.plotly.renderer.heatmaps", fail)
        opened(app, head="decoder.1.1")
        assert mounted(app).get("headlight_bertviz") is None and not app.get("plotly_chart")
        assert address(app)["other"] is None
    press_tool(app, "views", 1)
    (chart,) = app.get("plotly_chart")
    assert texts("en")("figures.kind_decoder") in chart.proto.alt
    assert address(app)["other"] == "plotly"
    app.session_state["tool"] = app.session_state["other_view"] = None  # as closing does
    app.run()
    assert not app.get("plotly_chart") and address(app)["other"] is None


def test_a_link_opens_bertviz_which_choice_language_and_pages_keep(
    app: AppTest, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(app, other="head", head="encoder.2.3", lang=language)
    data = document_of(app)
    assert (data["layer"], data["heads"]) == (2, [2])
    assert data["attention"][0]["left_text"][-1] == data["attention"][0]["right_text"][-1] == "</s>"
    title = texts(language)("other.title_head", kind=texts(language)("figures.kind_encoder"), head="encoder.2.3")
    assert mounted(app)["headlight_bertviz"]["title"] == title and address(app)["other"] == "head"
    app.segmented_control(key="other_choice").set_value("model").run()
    assert "include_heads" in document_of(app) and address(app)["other"] == "model"
    app.segmented_control(key="lang").set_value({"en": "ko", "ko": "en"}[language]).run()
    assert "include_heads" in document_of(app)
    app.switch_page("app_pages/model.py").run()
    assert mounted(app).get("headlight_bertviz") is None
    app.switch_page("app_pages/translate.py").run()
    assert "include_heads" in document_of(app) and address(app)["other"] == "model"
    before = mounted(app)["headlight_bertviz"]
    monkeypatch.setattr("viz_app.components.bertviz_frame.document.bertviz_document", lambda *_, **__: "made again")
    assert mounted(app.run())["headlight_bertviz"] == before, "a rerun hands over the same document"
    app.text_area(key="text").set_value("The bus.").run()
    assert mounted(app).get("headlight_bertviz") != before


def test_what_is_too_long_says_so_and_draws_nothing(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MAX_WEIGHTS, "model", 10)
    opened(app, other="model")
    assert mounted(app).get("headlight_bertviz") is None
    assert any("Limit: 10 (" in info.value for info in app.info)
