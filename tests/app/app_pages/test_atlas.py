"""The atlas on the page Model in Streamlit's own test runner: what it says, hands to the browser and offers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.app.mounted import address, mounted, page_model, visible
from tests.atlas_samples import PARTS, drawn_atlas
from transformer_core.atlas.measures import measures
from transformer_core.atlas.record import Atlas
from transformer_core.atlas.storage import FILE, to_bytes
from transformer_core.checkpoint import load_checkpoint
from transformer_core.storage.measurements import write_derived
from transformer_core.translator import Translator
from viz_app.components.atlas.payload import MAX_TOKENS
from viz_app.components.buffer import split_buffer
from viz_app.state import session
from viz_app.text import texts
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE

Measured = Callable[..., AppTest]


@pytest.fixture
def measured(
    app: AppTest, random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AppTest]:
    """The page Model of a model with an atlas, of which parts may be missing."""

    def opened(without: tuple[str, ...] = (), **params: str) -> AppTest:
        folder = tmp_path / "measured"
        shutil.copytree(random_checkpoint, folder)
        weights = load_checkpoint(folder).weights_hash
        atlas = msgspec.structs.replace(drawn_atlas(weights_hash=weights), **dict.fromkeys(without))
        write_derived(folder, weights, {FILE: to_bytes(atlas)})
        monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(folder))
        for name, value in params.items():
            app.query_params[name] = value
        for name in ("atlas-download", "pruning-download", "pruning-table"):
            app.session_state[name] = True
        app.run()
        return app.switch_page("app_pages/model.py").run()

    return opened


def packed(app: AppTest) -> tuple[dict[str, Any], memoryview]:
    return split_buffer(mounted(app)["headlight_atlas"])


def report(app: AppTest, **changes: Any) -> AppTest:
    """What the browser would report after these changes."""
    header, _ = packed(app)
    (weights,) = app.session_state["atlas_seen"]
    name = f"atlas-{weights[:12]}"
    app.session_state[name] = {"seen": {**header["start"], **changes}, "open": None}
    return app.run()


def test_the_browser_gets_the_numbers_of_the_atlas(measured: Measured, language: str) -> None:
    app, t = measured(lang=language), texts(language)
    assert not app.error
    header, rest = packed(app)
    assert "pairs.tsv" in visible(app).replace("\\", "") and "sha256 cccccccccccc" in visible(app)
    assert t("atlas.title") in visible(app) and t("atlas.pruning_published") in visible(app)
    assert header["language"] == language and header["sentence"] is None and not len(rest), "maps come when asked for"
    found = {measure["name"]: measure for measure in header["measures"]}
    for measure in measures(drawn_atlas()):
        shown = found[measure.name]
        assert shown["label"] == t(f"atlas.measure_{measure.name.replace('-', '_')}")
        for kind, numbers in measure.kinds.items():
            for name in ("value", "low", "high", "baseline", "q"):
                wanted = getattr(numbers, name).ravel()
                given = np.array([np.nan if v is None else v for v in shown["kinds"][kind][name]])
                np.testing.assert_allclose(given, wanted, atol=1e-5)


def test_the_maps_of_the_sentence_follow_when_they_are_wanted(measured: Measured, tmp_path: Path) -> None:
    app = report(measured(), maps=True)
    header, data = packed(app)
    maps = Translator.load(tmp_path / "measured").translate(EXAMPLES[FIRST_EXAMPLE], beam=4).attention
    for kind in ("encoder", "decoder", "cross"):
        place = header["sentence"]["maps"][kind]
        count = int(np.prod(place["shape"]))
        shown = np.frombuffer(data, np.uint8, count, place["offset"]).reshape(place["shape"])
        wanted = maps.weights(kind)[:, :, :MAX_TOKENS, :MAX_TOKENS]
        np.testing.assert_allclose(shown / 255, wanted, atol=1 / 500)
    assert header["sentence"]["axes"]["outputs"]["tokens"] == list(maps.outputs.tokens)


def test_the_address_holds_what_is_seen(measured: Measured) -> None:
    params = {"atlas_by": "entropy", "atlas_view": "list", "atlas_heads": "cross.2.4", "atlas_prune": "cross"}
    params |= {"atlas_left": "3", "atlas_score": "chrf", "atlas_by_order": "random", "atlas_role": "none"}
    app = measured(**params)
    assert {name: value for name, value in address(app).items() if name in params} == params
    start = packed(app)[0]["start"]
    assert (start["by"], start["view"], start["chosen"], start["role"]) == ("entropy", "list", ["cross.1.3"], "none")
    app = report(app, by="effect", chosen=[], kind="cross", significant=True)
    shown = address(app)
    assert (shown["atlas_by"], shown["atlas_heads"], shown["atlas_kind"]) == ("effect", None, "cross")
    assert shown["atlas_effect"] == "significant"
    assert "--view=grid --measure=effect" in visible(app)


@pytest.mark.parametrize(("most", "view"), [(8, "heads"), (7, "layer")])
def test_a_head_opens_beside_as_many_as_can_be_read(
    measured: Measured, monkeypatch: pytest.MonkeyPatch, most: int, view: str
) -> None:
    monkeypatch.setattr("viz_app.explorer_view.snapshot.MAX_SIDE_BY_SIDE", most)
    app = measured()
    (weights,) = app.session_state["atlas_seen"]
    app.session_state[f"atlas-{weights[:12]}"] = {"seen": None, "open": {"name": "encoder.1.3", "id": 1}}
    app.run()
    opened = app.session_state[session.SELECTION_KEY]
    assert (opened.kind, opened.layer, opened.head, opened.card, opened.view) == ("encoder", 1, 3, True, view)


def test_the_slider_translates_with_so_many_heads(measured: Measured) -> None:
    app, t = measured(), texts("en")
    (slider,) = app.slider
    assert slider.value == slider.max == 24
    assert t("atlas.live_same") in visible(app)
    slider.set_value(6).run()
    assert address(app)["atlas_left"] == "6" and "--left=6" in visible(app)
    order = t("atlas.order_effect")
    assert t("atlas.live", left=6, count=24, order=order) in visible(app)
    (choice,) = (each for each in app.button_group if each.label == t("atlas.group"))
    choice.set_value("decoder").run()
    (slider,) = app.slider
    assert slider.value == slider.max == 8, "of another group all heads are left again"


def test_everything_can_be_taken_away(measured: Measured) -> None:
    app, t = measured(), texts("en")
    labels = [button.proto.label for button in app.get("download_button")]
    for format in ("PDF", "SVG", "PNG", "CSV", "NPZ"):
        assert labels.count(format) >= 2, format
    assert "--view=grid" in visible(app) and "--view=pruning" in visible(app)
    assert [button.label for button in app.button].count(t("figures_page.edit")) == 2
    app.button(key="atlas-edit").click().run()
    assert app.session_state[session.FIGURE_SPEC_KEY].view == "grid"


def test_parts_that_are_missing_leave_no_gap(measured: Measured) -> None:
    app = measured(without=("effects", "decode", "prune", "links", "resembles"))
    assert not app.slider
    header, _ = packed(app)
    assert header["significant"] is None
    assert [measure["name"] for measure in header["measures"]] == [
        *("gain", "entropy", "distance", "weight-separator", "weight-end", "weight-start"),
        *("alignment-output", "alignment-input"),
    ]


def test_an_atlas_without_any_part_is_none(measured: Measured) -> None:
    app = measured(without=PARTS)
    assert texts("en")("atlas.none") in visible(app)


def test_a_damaged_atlas_is_one_line(
    app: AppTest, random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(random_checkpoint, folder)
    write_derived(folder, load_checkpoint(folder).weights_hash, {FILE: b'{"format_version": 1}'})
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(folder))
    page_model(app)
    (line,) = (each.value for each in app.warning if "atlas.json" in each.value)
    assert "\n" not in line and str(tmp_path) not in line


def test_a_relation_that_nobody_knows_is_called_by_its_name(measured: Measured) -> None:
    """The file comes from anybody: a strange relation must not break the page."""
    from viz_app.components.atlas.payload import label_words

    t = texts("en")
    assert label_words(t, "encoder", "link obj to_head") != "link obj to_head"
    for strange in ("link a b c", "link x sideways", "dreams", "aligner back", ""):
        assert label_words(t, "encoder", strange) == strange
    assert isinstance(drawn_atlas(), Atlas)


def test_the_page_figures_edits_the_views_of_the_atlas(measured: Measured, language: str) -> None:
    app, t = measured(lang=language), texts(language)
    app.button(key="pruning-edit").click().run()
    app.switch_page("app_pages/figures.py").run()
    assert not app.error
    assert app.selectbox(key=f"figures-{language}-view").value == "pruning"
    command = next(str(code.value) for code in app.code if str(code.value).startswith("python -m viz_app "))
    assert "--view=pruning" in command and "--text" not in command
    app.selectbox(key=f"figures-{language}-view").set_value("grid").run()
    app.selectbox(key=f"figures-{language}-measure").set_value("alignment-input").run()
    assert not app.error
    shown = address(app)
    assert (shown["figure"], shown["measure"]) == ("grid", "alignment-input")
    assert len(app.get("image")) == 1 and t("atlas.measure_alignment_input") in visible(app)


def test_the_page_figures_offers_no_atlas_where_there_is_none(app: AppTest) -> None:
    app.query_params["figure"] = "grid"
    app.run()
    app.switch_page("app_pages/figures.py").run()
    choice = app.selectbox(key="figures-en-view")
    assert choice.value == "head"
    assert not {texts("en")(f"figures_page.view_{name}") for name in ("grid", "pruning")} & set(choice.options)
