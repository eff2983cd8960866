"""The part of a page's state that lives in its URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_core.attention_maps import KINDS
from viz_app.components.explorer.selection import UNITS, VIEWS, Selection
from viz_app.services.address import params_from, selection_from

BEST = Selection(kind="cross", layer=4, head=2)

selections = st.builds(
    Selection,
    kind=st.sampled_from(KINDS),
    layer=st.integers(0, 11),
    head=st.integers(0, 15),
    step=st.none() | st.integers(1, 178),
    unit=st.sampled_from(UNITS),
    view=st.sampled_from(VIEWS),
)


@given(selections)
def test_a_link_carries_the_whole_selection(selection: Selection) -> None:
    params = {name: value for name, value in params_from(selection).items() if value is not None}
    assert selection_from(params, BEST) == selection


def test_layers_and_heads_count_from_one() -> None:
    assert params_from(BEST) == {
        "kind": "cross", "layer": "5", "head": "3", "step": None, "unit": None, "view": None
    }  # fmt: skip
    assert selection_from({"layer": "1", "head": "8"}, BEST) == Selection(kind="cross", layer=0, head=7)


@pytest.mark.parametrize("bad", ["0", "-1", "1.5", "", "two", "²", "99999", "1e3", "../etc", "<b>", "٣"])
def test_nonsense_is_left_out_of_account(bad: str) -> None:
    params = dict.fromkeys(("kind", "layer", "head", "step", "unit", "view"), bad)
    assert selection_from(params, BEST) == BEST
