"""What is seen of a history: in the address, in the browser's report, as a file."""

from __future__ import annotations

import dataclasses
import io
import json
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import mounted
from transformer_core.history.snapshots import History, Validation
from viz_app.components.buffer import split_buffer
from viz_app.figure_editor.rendering import ExportableFigure
from viz_app.figures import Style
from viz_app.figures.model.figure import HeatmapPanel, RoundedPanel
from viz_app.lessons.small_models import HISTORIES
from viz_app.model_card.head_snapshot import HeadSnapshot, moment_name
from viz_app.text import texts


@pytest.fixture(scope="module")
def history() -> History:
    return History.load(HISTORIES / "base")


def test_it_starts_with_the_head_that_will_align_best(history: History) -> None:
    start = HeadSnapshot.start(history)
    assert history.alignment is not None
    rates = np.array(history.alignment["aer"][-1])
    assert rates[start.layer, start.head] == rates.min()
    assert (start.kind, start.moment, start.sentence) == ("cross", 0, 0)
    assert set(start.to_query(history).values()) == {None}


def test_step_0_is_no_beginning_where_the_model_translates_already(history: History) -> None:
    """A model with new weights cannot translate, and its loss is about that of a uniform guess."""
    for folder in (HISTORIES / "base", HISTORIES / "heads-at-rest", HISTORIES / "parser"):
        found = History.load(folder)
        assert found.validation is not None
        assert found.continues is (found.validation["nll"][0] < 3)
    assert history.validation is not None
    trained: Validation = {**history.validation, "bleu": [41.3, *history.validation["bleu"][1:]]}
    continued = dataclasses.replace(history, validation=trained)
    t = texts("en")
    assert moment_name(history, 0, t) == "before the first step"
    assert moment_name(continued, 0, t) == t("growth.at_continued")
    assert moment_name(continued, 1, t) == moment_name(history, 1, t) == "after 100 steps"
    assert not dataclasses.replace(continued, validation=None).continues


def test_an_address_leads_back(history: History) -> None:
    seen = HeadSnapshot(sentence=3, kind="decoder", moment=len(history.steps) - 2, layer=1, head=6)
    params = seen.to_query(history)
    assert params == {"grown_text": "4", "grown_head": "decoder.2.7", "grown_at": str(history.steps[-2])}
    assert HeadSnapshot.from_query({name: str(value) for name, value in params.items()}, history) == seen


@pytest.mark.parametrize(
    "params",
    [
        {"grown_head": "decoder.3.1"},
        {"grown_head": "other.1.1"},
        {"grown_head": "cross.0.1"},
        {"grown_text": "99"},
        {"grown_text": "0"},
        {"grown_at": "7"},
        {"grown_at": "-1"},
        {"grown_at": "1e3"},
        {"grown_at": "<b>"},
    ],
)
def test_an_address_that_makes_no_sense_is_left_out_of_account(params: dict[str, str], history: History) -> None:
    assert HeadSnapshot.from_query(params, history) == HeadSnapshot.start(history)


@pytest.mark.parametrize(
    "change", [{"kind": "own"}, {"layer": 2}, {"head": True}, {"moment": "1"}, {"sentence": -1}, {"extra": 1}]
)
def test_a_report_that_makes_no_sense_is_none(change: dict[str, Any], history: History) -> None:
    report = {"sentence": 1, "kind": "encoder", "moment": 2, "layer": 0, "head": 3}
    assert HeadSnapshot.from_report(report, history) == HeadSnapshot(1, "encoder", 2, 0, 3)
    assert HeadSnapshot.from_report(report | change, history) is None
    assert HeadSnapshot.from_report(None, history) is None


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_file_has_the_numbers_of_the_history(kind: Any, history: History) -> None:
    seen = HeadSnapshot(sentence=2, kind=kind, moment=5, layer=1, head=4)
    figure = seen.figure(history, "base", texts("en"))
    assert figure is not None
    exportable = ExportableFigure(figure, Style())
    expected = history.sentences[2].weights[kind][5, 1, 4] / np.float32(255)
    arrays = np.load(io.BytesIO(exportable.file("npz")))
    assert np.allclose(arrays["weights"][0], expected, atol=1e-7)
    assert exportable.command("pdf") == "", "nobody said where the history lies"
    assert f"after {history.steps[5]:,} steps" in figure.title and "base" in figure.caption
    content = json.loads(exportable.file("json"))
    assert f'"updates": {history.steps[5]}' in json.dumps(content)
    assert exportable.file("svg").startswith(b"<?xml") and exportable.file("png").startswith(b"\x89PNG")
    assert exportable.file_name("svg").endswith(f"_base_update{history.steps[5]}.svg")


def test_every_head_of_every_moment_can_be_drawn(history: History) -> None:
    for moment in range(len(history.steps)):
        for sentence in range(len(history.sentences)):
            assert HeadSnapshot(sentence, "cross", moment, 0, 0).figure(history, "base", texts("ko")) is not None


def test_rounded_rows_sum_to_1_only_nearly() -> None:
    weights, labels = np.full((1, 3), 85 / 255 - 1 / 510), ["a", "b", "c"]
    with pytest.raises(ValueError, match="sum to 1"):
        HeatmapPanel(weights=weights, query_labels=["q"], key_labels=labels)
    assert RoundedPanel(weights=weights, query_labels=["q"], key_labels=labels).weights.sum() < 0.999
    with pytest.raises(ValueError, match="sum to 1"):
        RoundedPanel(weights=weights - 0.01, query_labels=["q"], key_labels=labels)


def start_of(app: AppTest) -> dict[str, Any]:
    start: dict[str, Any] = split_buffer(mounted(app)["headlight_growth"])[0]["start"]
    return start


def test_the_page_opens_as_its_address_says(app: AppTest, history: History) -> None:
    step = str(history.steps[4])
    app.query_params.update({"grown_at": step, "grown_head": "encoder.1.3", "grown_text": "2", "lang": "en"})
    app.switch_page("app_pages/model.py").run()
    assert start_of(app) == {"sentence": 1, "kind": "encoder", "moment": 4, "layer": 0, "head": 2}
    params = mounted(app)["headlight_address"]["params"]
    assert (params["grown_at"], params["grown_head"], params["grown_text"]) == (step, "encoder.1.3", "2")
    assert params["grown_of"] is None
    labels = [button.proto.label for button in app.get("download_button")]
    assert {"PDF", "SVG", "PNG", "GIF", "CSV", "NPZ"} <= set(labels)
    (command,) = (code.value for code in app.code if "viz_app growth" in code.value)
    assert f"--at={step}" in command and "--head=encoder.1.3" in command and "--sentence=2" in command


def test_the_address_names_another_history(app: AppTest) -> None:
    app.query_params["grown_of"], app.query_params["grown_head"] = "no-positions", "decoder.2.2"
    app.switch_page("app_pages/model.py").run()
    assert mounted(app)["headlight_address"]["params"]["grown_of"] == "no-positions"
    assert (start_of(app)["kind"], start_of(app)["layer"], start_of(app)["head"]) == ("decoder", 1, 1)
    (chosen,) = (box for box in app.selectbox if str(box.key).startswith("growth-model"))
    chosen.select_index(0).run()
    assert mounted(app)["headlight_address"]["params"]["grown_of"] is None
    assert start_of(app)["kind"] == "cross", "the address told of another history"
