"""Histories for the page Model: which models have one, what the explorer gets of them, what a damaged one says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import address, mounted, opened
from transformer_core.checkpoint import write_manifest
from transformer_core.history.snapshots import History
from transformer_core.storage.bundled_models import SHIPPED as CHECKPOINTS
from viz_app.components.buffer import split_buffer
from viz_app.components.explorer.weights import pack_weights
from viz_app.explorer_view.training_snapshot import first_selection
from viz_app.lessons.small_models import HISTORIES
from viz_app.model_card import histories
from viz_app.text import texts
from viz_app.ui.model.growth import Seen

SHIPPED = HISTORIES / "base"
OPENING = 10  # of its 15 snapshots


@pytest.fixture
def grown_checkpoint(random_checkpoint: Path, tmp_path: Path) -> Path:
    """A checkpoint that has a history; which one makes no difference to the page."""
    folder = tmp_path / "mine"
    shutil.copytree(random_checkpoint, folder)
    shutil.copytree(SHIPPED, folder / "history")
    write_manifest(folder)
    return folder


def shown(app: AppTest) -> str:
    return " ".join(element.value for element in [*app.header, *app.caption, *app.error, *app.markdown])


def test_a_training_from_its_first_step_comes_first_if_possible_the_visitors(
    random_checkpoint: Path, grown_checkpoint: Path
) -> None:
    def first(checkpoint: Path, count: int) -> list[tuple[str, bool]]:
        return [(model.name, model.served) for model in histories.available_histories(checkpoint)][:count]

    assert first(grown_checkpoint, 3) == [("mine", True), ("en-fr-small", False), ("base", False)]
    assert first(random_checkpoint, 2) == [("en-fr-small", False), ("base", False)]
    assert first(CHECKPOINTS / "en-de", 2) == [("en-fr-small", False), ("en-de", True)], "it continues another"
    assert first(CHECKPOINTS / "en-fr-small", 2) == [("en-fr-small", True), ("base", False)]


@pytest.mark.parametrize(
    ("params", "key", "facts"),
    [
        ({"lang": "en"}, "of_small", {"name": "en-fr-small", "layers": "6 + 6", "steps": "7,400"}),
        ({"lang": "ko", "grown_of": "base"}, "of_small", {"name": "base", "layers": "2 + 2", "steps": "3,000"}),
        # Of models that ship no more.
        ({"grown_of": "heads-at-rest"}, "of_kept", {"name": "heads-at-rest", "layers": "6 + 6", "steps": "8,150"}),
        ({"grown_of": "parser"}, "of_kept", {"name": "parser", "layers": "4 + 4", "steps": "7,000"}),
    ],
)
def test_the_page_says_which_model_it_shows(
    params: dict[str, str], key: str, facts: dict[str, str], app: AppTest
) -> None:
    t = texts(params.get("lang", "en"))
    opened(app, "model", **params)
    assert t("growth.title") in shown(app) and t(f"growth.{key}", **facts, heads=8) in shown(app)


def test_the_page_shows_the_models_own_history(
    app: AppTest, grown_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(grown_checkpoint))
    opened(app, "model")
    assert texts("en")("growth.of_served", name="mine", layers="2 + 2", heads=8, steps="3,000") in shown(app)


def test_a_damaged_history_is_told_of(app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SHIPPED, tmp_path / "base")
    with (tmp_path / "base" / "attention.safetensors").open("ab") as file:
        file.write(b"x")
    monkeypatch.setattr(histories, "HISTORIES", tmp_path)
    monkeypatch.setattr(histories, "FROM_ZERO", tmp_path / "none")
    opened(app, "model")
    (error,) = app.error
    assert "is damaged" in error.value and "attention" in error.value
    assert texts("en")("model.shape") in shown(app), "the rest of the page is there"


def test_without_any_history_there_is_no_section(app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "HISTORIES", tmp_path)
    monkeypatch.setattr(histories, "FROM_ZERO", tmp_path / "none")
    opened(app, "model")
    assert texts("en")("growth.title") not in shown(app)


def test_the_explorer_gets_the_snapshot_of_the_address_and_of_the_slider(app: AppTest) -> None:
    history = History.load(SHIPPED)
    step = history.steps[4]
    opened(app, "model", grown_of="base", grown_at=str(step), grown_text="3", head="encoder.1.2")
    shown, weights = split_buffer(mounted(app)["headlight_explorer"])
    assert shown["about"]["text"] == history.sentences[2].source and shown["about"]["model"] == "base"
    assert (shown["selection"]["kind"], shown["selection"]["layer"], shown["selection"]["head"]) == ("encoder", 0, 1)
    assert bytes(weights) == bytes(pack_weights(history.sentences[2].maps(4)).data)
    assert address(app) | {"grown_at": str(step), "grown_text": "3", "head": "encoder.1.2"} == address(app)
    app.select_slider[0].set_value(5).run()
    assert address(app)["grown_at"] == str(history.steps[5])
    _, weights = split_buffer(mounted(app)["headlight_explorer"])
    assert bytes(weights) == bytes(pack_weights(history.sentences[2].maps(5)).data)


@pytest.mark.parametrize(
    "params",
    [
        {"grown_text": "99"},
        {"grown_text": "0"},
        {"grown_at": "7"},
        {"grown_at": "-1"},
        {"grown_at": "<b>"},
        {"head": "x.1.1"},
    ],
)
def test_nonsense_in_the_address_opens_the_start(params: dict[str, str]) -> None:
    history = History.load(SHIPPED)
    assert (
        Seen.from_query(params, history) == Seen.from_query({}, history) == Seen(0, OPENING, first_selection(history))
    )


def test_a_history_of_a_link_is_forgotten_with_another_choice(app: AppTest) -> None:
    opened(app, "model", grown_of="no-positions", head="decoder.2.2")
    assert address(app)["grown_of"] == "no-positions"
    (chosen,) = (box for box in app.selectbox if str(box.key).startswith("growth-model"))
    chosen.select_index(0).run()
    assert address(app)["grown_of"] is None and mounted(app)["headlight_explorer"]
