"""The atlas on the page Model in Streamlit's own test runner: what it says, hands to the browser and offers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import Serve
from tests.app.mounted import address, mounted, opened, visible
from tests.atlas_samples import PARTS, drawn_atlas
from transformer_core.atlas.measures import measures
from transformer_core.atlas.naming import head_roles
from transformer_core.atlas.storage import FILE
from transformer_core.checkpoint import load_checkpoint
from transformer_core.storage.measurements import write_derived
from viz_app.lessons.catalogue import LAB
from viz_app.lessons.stage import LessonState
from viz_app.state import session
from viz_app.text import texts
from viz_app.ui.lesson_route import state_key

Measured = Callable[..., AppTest]


@pytest.fixture
def measured(app: AppTest, serve_atlas: Serve) -> Measured:
    """The page Model of a model with an atlas, of which parts may be missing."""

    def measured(without: tuple[str, ...] = (), **params: str) -> AppTest:
        serve_atlas(*without)
        for name in ("atlas-download", "pruning-download", "pruning-table"):
            app.session_state[name] = True
        return opened(app, "model", **params)

    return measured


def choose(app: AppTest, name: str) -> AppTest:
    """Choose a measure."""
    (choice,) = (box for box in app.selectbox if str(box.key).startswith("atlas-"))
    return choice.set_value(name).run()


def test_the_page_says_what_was_measured_and_on_what(measured: Measured, language: str) -> None:
    app, t = measured(lang=language), texts(language)
    assert not app.error
    assert "pairs.tsv" in visible(app).replace("\\", "") and "sha256 cccccccccccc" in visible(app)
    assert t("atlas.title") in visible(app) and t("atlas.pruning_published") in visible(app)
    (choice,) = (box for box in app.selectbox if str(box.key).startswith("atlas-"))
    names = [f"atlas.measure_{measure.name.replace('-', '_')}" for measure in measures(drawn_atlas())]
    assert choice.options == [t(name) for name in names]
    choose(app, "alignment-output")
    assert t("atlas.about_alignment_output") in visible(app)


def test_the_address_holds_what_is_seen(measured: Measured) -> None:
    params = {"atlas_by": "entropy", "atlas_prune": "cross"}
    params |= {"atlas_left": "3", "atlas_score": "chrf", "atlas_by_order": "random"}
    app = measured(**params)
    assert {name: value for name, value in address(app).items() if name in params} == params
    app = choose(app, "effect")
    assert address(app)["atlas_by"] == "effect" and "--view=grid --measure=effect" in visible(app)
    assert address(choose(app, "gain"))["atlas_by"] is None


def test_an_unknown_measure_in_the_address_counts_as_none(measured: Measured) -> None:
    assert address(measured(atlas_by="dreams"))["atlas_by"] is None


@pytest.mark.parametrize(
    ("most", "view", "label", "order"),
    [(8, "kinds", "by_measure", "atlas-effect"), (7, "layer", "by_role", "atlas-role")],
)
def test_all_heads_open_in_the_order_of_a_measure(
    measured: Measured, monkeypatch: pytest.MonkeyPatch, most: int, view: str, label: str, order: str
) -> None:
    monkeypatch.setattr("viz_app.explorer_view.snapshot.MAX_SIDE_BY_SIDE", most)
    app = choose(measured(), "effect")
    app.button(key=f"atlas-open-atlas.{label}").click().run()
    opened = app.session_state[session.SELECTION_KEY]
    assert (opened.zoom, opened.view, opened.order) == ("heads", view, order)
    names = [each["name"] for each in mounted(app)["headlight_explorer_findings"]["roles"]["measures"]]
    assert order in names, "the page Translate has it"


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
    (choice,) = (box for box in app.selectbox if str(box.key).startswith("atlas-"))
    assert len(choice.options) == 9, "best rule, flow, entropy, distance, three weights, two alignments"


def test_an_atlas_without_any_part_is_none_and_a_damaged_one_is_one_line(measured: Measured, tmp_path: Path) -> None:
    app = measured(without=PARTS)
    assert texts("en")("atlas.none") in visible(app)
    folder = tmp_path / "served"
    write_derived(folder, load_checkpoint(folder).weights_hash, {FILE: b'{"format_version": 1}'})
    (line,) = (each.value for each in opened(app, "model").warning if "atlas.json" in each.value)
    assert "\n" not in line and str(tmp_path) not in line


def test_the_page_figures_edits_the_views_of_the_atlas(measured: Measured, language: str) -> None:
    app, t = measured(lang=language), texts(language)
    app.button(key="pruning-edit").click().run()
    app.switch_page("app_pages/figures.py").run()
    assert not app.error
    assert app.selectbox(key=f"figures-{language}-view").value == "pruning"
    command = next(str(code.value) for code in app.code if str(code.value).startswith("python -m viz_app export "))
    assert "--view=pruning" in command and "--text" not in command
    app.selectbox(key=f"figures-{language}-view").set_value("grid").run()
    app.selectbox(key=f"figures-{language}-measure").set_value("alignment-input").run()
    assert not app.error
    shown = address(app)
    assert (shown["figure"], shown["measure"]) == ("grid", "alignment-input")
    assert len(app.get("image")) == 1 and t("atlas.measure_alignment_input") in visible(app)


def test_the_way_to_the_lab_suggests_the_experiment_of_the_heads_role(app: AppTest, serve_atlas: Serve) -> None:
    serve_atlas()
    benches = {"aligner": "redirect", "offset-1": "why", "offset+1": "why", "separator": "off", "end": "off"}
    roles = {head: each[0].name for head, each in head_roles(drawn_atlas()).items() if each and each[0].name in benches}
    assert roles
    head, role = next(iter(roles.items()))
    opened(app, "translate", head=str(head), zoom="head")
    button = app.button(key="open-in-lab")
    assert button.label == texts("en")(f"translate.lab_{benches[role]}", head=str(head))
    button.click().run()
    assert app.session_state[state_key(LAB)] == LessonState(benches[role], {"chosen": str(head)})
