"""The part of a page's state that lives in its URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_core.attention_maps import KINDS
from viz_app.components.explorer.selection import CHOICES, Selection
from viz_app.state.query_params import selection_from_params, selection_to_params

BEST = Selection(kind="cross", layer=4, head=2)

selections = st.builds(
    Selection,
    **{name: st.sampled_from(choices) for name, choices in CHOICES.items()},
    layer=st.integers(0, 11),
    head=st.integers(0, 15),
    step=st.none() | st.integers(1, 178),
    special=st.booleans(),
    threshold=st.integers(0, 99),
    pin=st.none() | st.builds("{}{}".format, st.sampled_from("qk"), st.integers(0, 511)),
    against=st.none() | st.builds("{}.{}.{}".format, st.sampled_from(KINDS), st.integers(0, 11), st.integers(0, 15)),
    branch=st.integers(0, 40),
)


@given(selections)
def test_a_link_carries_the_whole_selection(selection: Selection) -> None:
    params = {name: value for name, value in selection_to_params(selection).items() if value is not None}
    assert selection_from_params(params, BEST) == selection


def test_layers_and_heads_count_from_one() -> None:
    shown = {name: value for name, value in selection_to_params(BEST).items() if value is not None}
    assert shown == {"kind": "cross", "layer": "5", "head": "3"}
    other = selection_to_params(Selection(pin="q0", against="cross.5.7", branch=2, threshold=5, special=False))
    assert (other["pin"], other["against"], other["branch"]) == ("q1", "cross.6.8", "3")
    assert (other["threshold"], other["special"]) == ("5", "off")
    assert selection_from_params({"layer": "1", "head": "8"}, BEST) == Selection(kind="cross", layer=0, head=7)


@pytest.mark.parametrize("bad", ["0", "-1", "1.5", "", "two", "²", "99999", "1e3", "../etc", "<b>", "٣"])
def test_nonsense_is_left_out_of_account(bad: str) -> None:
    params = dict.fromkeys((*CHOICES, "layer", "head", "step", "special", "threshold", "pin", "against", "branch"), bad)
    assert selection_from_params(params, BEST) == BEST
