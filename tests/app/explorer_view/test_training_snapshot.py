"""The explorer at a snapshot of a training: which head it opens with, the roles there, the curves."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from transformer_core.history.snapshots import History
from viz_app.components.buffer import split_buffer
from viz_app.explorer_view.training_snapshot import (
    first_selection,
    snapshot_name,
    snapshot_payload,
    snapshot_roles,
    training_curves,
)
from viz_app.figures.plotly.curves import curves
from viz_app.lessons.small_models import HISTORIES
from viz_app.text import texts


@pytest.fixture(scope="module")
def history() -> History:
    return History.load(HISTORIES / "base")


def test_it_opens_with_the_head_that_aligns_best_after_the_training(history: History) -> None:
    assert history.alignment
    selection = first_selection(history)
    rates = np.array(history.alignment["aer"][-1])
    assert rates[selection.layer, selection.head] == rates.min() and selection.kind == "cross"
    without = first_selection(dataclasses.replace(history, alignment=None))
    assert (without.layer, without.head) == (history.model["layers"] - 1, history.model["heads"] - 1)


def test_a_snapshot_is_named_by_its_step(history: History) -> None:
    """Step 0 is no beginning where the model translates already; a new one has the loss of a uniform guess."""
    for name in ("base", "heads-at-rest", "parser"):
        shipped = History.load(HISTORIES / name)
        assert shipped.validation and shipped.continues is (shipped.validation["nll"][0] < 3)
    assert history.validation
    t = texts("en")
    translated = {**history.validation, "bleu": [20.0, *history.validation["bleu"][1:]]}
    continued = dataclasses.replace(history, validation=translated)  # type: ignore[arg-type]
    assert snapshot_name(history, 0, t) == "before the first step"
    assert snapshot_name(continued, 0, t) == t("growth.at_continued")
    assert snapshot_name(continued, 1, t) == snapshot_name(history, 1, t) == "after 100 steps"


def test_each_head_has_the_role_that_is_furthest_beyond_chance(history: History, language: str) -> None:
    t, snapshot = texts(language), len(history.steps) - 1
    roles = snapshot_roles(history, snapshot, "base", t)["roles"]
    named = 0
    for kind, table in history.roles.items():
        for layer, row in enumerate(roles["heads"][kind]):
            for head, shown in enumerate(row):
                gains = {name: each["shares"][snapshot][layer][head] - each["chance"] for name, each in table.items()}
                share = table[shown["role"]]["shares"][snapshot][layer][head]
                assert gains[shown["role"]] == max(gains.values()) and shown["share"] == share
                assert shown["standing"] == ("named" if share >= 0.5 else "leans")
                labels = roles["labels"][kind][layer * len(row) + head]
                assert labels == ([shown["role"]] if share >= 0.5 else ["none"])
                named += share >= 0.5
    assert named and {each["label"] for each in roles["filters"]} > {"none"}


def test_a_decoder_without_a_mask_is_left_out(history: History) -> None:
    header, _ = split_buffer(snapshot_payload(history, 0, 0, "base", texts("en")))
    assert list(header["kinds"]) == ["encoder", "decoder", "cross"]
    assert history.alignment
    assert header["alignment"] == {"cross": history.alignment["aer"][0]}, "the order by alignment is of this snapshot"
    unmasked = dataclasses.replace(history, model={**history.model, "causal": False})
    header, _ = split_buffer(snapshot_payload(unmasked, 0, 0, "base", texts("en")))
    assert list(header["kinds"]) == ["encoder", "cross"]


def test_the_curves_are_read_at_the_snapshot(history: History) -> None:
    assert history.validation and history.alignment
    t, snapshot = texts("en"), 5
    loss, scores = training_curves(history, snapshot, t, "light")
    assert loss.readings()[1] == pytest.approx(history.validation["nll"][snapshot])
    least = 100 * np.array(history.alignment["aer"][snapshot]).min()
    assert scores.readings() == pytest.approx((history.validation["bleu"][snapshot], least))
    assert curves(loss).layout.xaxis.type == "log" and all((series.xs > 0).all() for series in loss.series)
    assert training_curves(history, 0, t, "light")[0].cut is None, "step 0 has no place on the scale"
    alone = dataclasses.replace(history, validation=None, alignment=None)
    assert len(training_curves(alone, snapshot, t, "light")) == 1
