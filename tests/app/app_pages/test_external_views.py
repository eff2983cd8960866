"""The row of other views through Streamlit's own test runner: closed, open, in the address, too long."""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import address, mounted, opened
from viz_app.text import texts


def document_of(app: AppTest) -> dict[str, Any]:
    """The data in the BertViz document that the page shows."""
    block = (
        mounted(app)["headlight_bertviz"]["document"]
        .split('<script type="application/json" id="bertviz-data">')[1]
        .split("</script>")[0]
    )
    data: dict[str, Any] = json.loads(block)
    return data


def test_closed_it_computes_and_sends_nothing(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("computed although the row is closed")

    monkeypatch.setattr("viz_app.components.bertviz_frame.document.bertviz_document", fail)
    monkeypatch.setattr("viz_app.figures.plotly.renderer.heatmaps", fail)
    app.run()
    assert mounted(app).get("headlight_bertviz") is None and not app.get("plotly_chart")
    assert address(app)["other"] is None


def test_opened_it_shows_the_selected_head_in_plotly(app: AppTest) -> None:
    opened(app, head="decoder.1.1")
    app.session_state["other_open_en"] = True
    app.run()
    (chart,) = app.get("plotly_chart")
    assert texts("en")("figures.kind_decoder") in chart.proto.alt
    assert address(app)["other"] == "plotly"
    app.session_state["other_open_en"] = False
    app.run()
    assert not app.get("plotly_chart") and address(app)["other"] is None


def test_a_link_opens_bertviz_with_layer_and_head(app: AppTest, language: str) -> None:
    opened(app, other="head", head="encoder.2.3", lang=language)
    data = document_of(app)
    assert (data["layer"], data["heads"]) == (2, [2])
    assert data["attention"][0]["left_text"][-1] == data["attention"][0]["right_text"][-1] == "</s>"
    handed = mounted(app).get("headlight_bertviz")
    kind = texts(language)("figures.kind_encoder")
    assert handed and handed["title"] == texts(language)("other.title_head", kind=kind, head="encoder.2.3")
    assert address(app)["other"] == "head"


def test_choice_language_and_pages_keep_it(app: AppTest) -> None:
    opened(app, other="head")
    app.segmented_control(key="other_choice").set_value("model").run()
    assert "include_heads" in document_of(app) and address(app)["other"] == "model"
    app.segmented_control(key="lang").set_value("ko").run()
    assert "include_heads" in document_of(app)
    app.switch_page("app_pages/model.py").run()
    assert mounted(app).get("headlight_bertviz") is None
    app.switch_page("app_pages/translate.py").run()
    assert "include_heads" in document_of(app) and address(app)["other"] == "model"


def test_a_rerun_hands_over_the_same_document(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(app, other="model")
    before = mounted(app).get("headlight_bertviz")
    monkeypatch.setattr("viz_app.components.bertviz_frame.document.bertviz_document", lambda *_, **__: "made again")
    app.run()
    assert mounted(app).get("headlight_bertviz") == before
    app.text_input(key="text").set_value("The bus.").run()
    assert mounted(app).get("headlight_bertviz") != before
