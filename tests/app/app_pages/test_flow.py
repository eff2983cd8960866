"""The flow on the page Translate: it is computed where it is seen, and its ways from when they are unfolded."""

from __future__ import annotations

import dataclasses
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.app.mounted import mounted, opened
from viz_app.state import session


def select(app: AppTest, **change: object) -> Any:
    """Report another selection as the browser does; return the flow that the page then sends, "none" for none."""
    selection = dataclasses.replace(app.session_state[session.SELECTION_KEY], **change)
    app.session_state[session.EXPLORER] = {"selection": selection.to_dict()}
    return mounted(app.run())["headlight_explorer_findings"].get("flow", "none")


def test_the_flow_has_ways_from_when_it_is_unfolded_and_only_where_it_is_seen(app: AppTest) -> None:
    opened(app, text="The dog is fast.")
    assert "ways" not in mounted(app)["headlight_explorer_findings"]["flow"]["words"][0]
    assert select(app, form="map") == "none"
    assert "ways" in select(app, form="flow", pin="q0", unfold=True)["words"][0]
    assert "ways" in select(app, unfold=False)["words"][0], "they stay in the browser"
