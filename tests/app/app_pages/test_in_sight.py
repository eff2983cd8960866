"""Parts of the pages Model and Figures that are drawn only once the reader comes near."""

from __future__ import annotations

from unittest.mock import Mock

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import MAIN, SECONDS, Serve
from tests.app.mounted import address, opened, visible
from viz_app.model_card.pruned_sentence import translate_pruned
from viz_app.text import texts
from viz_app.ui.model import pruning

T = texts("en")


@pytest.fixture
def fresh(app: AppTest) -> AppTest:
    """The app as a new visitor has it: nothing is scrolled to or opened."""
    return AppTest.from_file(str(MAIN), default_timeout=SECONDS)


def test_a_page_model_draws_and_computes_only_what_is_near(
    fresh: AppTest, serve_atlas: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_atlas()
    computed = Mock(side_effect=translate_pruned)
    monkeypatch.setattr(pruning, "translate_pruned", computed)
    app = opened(fresh, "model", atlas_left="3")
    assert T("atlas.pruning") in [each.value for each in app.subheader]
    assert not computed.called and not app.get("plotly_chart") and not app.table and not app.code
    assert address(app)["atlas_left"] == "3", "the state of what is not drawn stays in the address"
    app.session_state["in-sight-pruning"] = {"seen": True}
    app.session_state["model-numbers"] = True
    app.run()
    assert computed.call_count == 1 and app.get("plotly_chart") and app.table
    assert T("atlas.pruning_published") in visible(app) and address(app)["atlas_left"] == "3"


@pytest.mark.parametrize("report", [{"seen": 1}, {"seen": "yes"}, {"other": True}])
def test_another_report_of_a_browser_draws_nothing(fresh: AppTest, report: object) -> None:
    fresh.session_state["in-sight-figures-texts"] = report
    assert not opened(fresh, "figures").code
    fresh.session_state["in-sight-figures-texts"] = {"seen": True}
    assert len(fresh.run().code) == 3
