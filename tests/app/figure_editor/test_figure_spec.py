"""The state of the page Figures and its address."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.atlas_samples import drawn_atlas
from transformer_core.atlas.measures import NAMES as MEASURES
from transformer_core.attention_maps import KINDS, AttentionMaps, Axis
from viz_app.components.explorer import Selection
from viz_app.figure_editor.figure_spec import DPIS, FigureSpec
from viz_app.figure_editor.saved_figure import spec_from_saved, spec_to_saved
from viz_app.figures import PRESETS, SCALES, VIEWS, ParserOutput, Style
from viz_app.figures.options import GROUPS, MAX_STEPS, SCORES

LAYERS, HEADS, SOURCE, STEPS = 2, 4, 5, 6


def axis(size: int) -> Axis:
    return Axis(tuple(f"t{i}" for i in range(size)), tuple(range(size)), (False,) * size)


def maps() -> AttentionMaps:
    def uniform(rows: int, columns: int) -> Any:
        return np.full((LAYERS, HEADS, rows, columns), 1 / columns, dtype=np.float32)

    return AttentionMaps(
        encoder=uniform(SOURCE, SOURCE),
        decoder=np.tile(
            np.tril(np.ones((STEPS, STEPS))) / np.arange(1, STEPS + 1)[:, None], (LAYERS, HEADS, 1, 1)
        ).astype(np.float32),
        cross=uniform(STEPS, SOURCE),
        source=axis(SOURCE),
        inputs=axis(STEPS),
        outputs=axis(STEPS),
    )


def parsed() -> ParserOutput:
    """A flat tree over as many words as the maps have source tokens."""
    symbols = ["(S", *["XX"] * SOURCE, ")S"]
    return ParserOutput(["word"] * SOURCE, symbols, [-0.1] * len(symbols), range(SOURCE))


places = some.builds(
    Selection,
    kind=some.sampled_from(KINDS),
    layer=some.integers(0, 11),
    head=some.integers(0, 15),
    step=some.none() | some.integers(1, 40),
    unit=some.sampled_from(("tokens", "words")),
    branch=some.integers(0, 9),
)
styles = some.builds(
    Style,
    preset=some.sampled_from(("", *PRESETS)),
    width_mm=some.none() | some.sampled_from((20.0, 77.5, 2000.0)),
    height_mm=some.none() | some.sampled_from((15.0, 90.0)),
    font_pt=some.none() | some.sampled_from((3.0, 7.5, 48.0)),
    scale=some.sampled_from(SCALES),
    value_range=some.sampled_from((None, "shared", (0.0, 0.5), (0.25, 1.0))),
    mapping=some.sampled_from(("linear", "sqrt")),
    rotation=some.sampled_from(("auto", 0, 45, 90)),
    title=some.booleans(),
    caption=some.booleans(),
    legend=some.booleans(),
    letters=some.booleans(),
    theme=some.sampled_from((None, "dark")),
)
numbers = some.sets(some.integers(1, 12), max_size=4).map(lambda found: tuple(sorted(found)))
specs = some.builds(
    FigureSpec,
    view=some.sampled_from(tuple(VIEWS)),
    selection=places,
    heads=numbers,
    query=some.none() | some.integers(0, 30),
    steps=numbers,
    aligned=some.none() | some.booleans(),
    pruned=some.booleans(),
    confidence=some.booleans(),
    measure=some.sampled_from(("", *MEASURES)),
    group=some.sampled_from(GROUPS),
    score=some.sampled_from(SCORES),
    left=some.none() | some.integers(0, 8),
    language=some.sampled_from((None, "en", "ko")),
    style=styles,
    dpi=some.sampled_from(DPIS),
)


@settings(deadline=None)
@given(specs)
def test_an_address_holds_the_whole_draft(spec: FigureSpec) -> None:
    params = {name: value for name, value in spec.to_query().items() if value is not None}
    assert FigureSpec.from_query(params, FigureSpec()) == spec


@settings(deadline=None)
@given(
    some.dictionaries(
        some.sampled_from(("figure", "heads", "steps", "query", "size", "width", "range", "parts", "dpi", "rotation")),
        some.text(max_size=12) | some.sampled_from(("nan", "-1", "1e9", "0,", "1,0", "²", "inf,2", "title,x")),
    )
)
def test_nonsense_in_an_address_is_left_out(params: dict[str, str]) -> None:
    spec = FigureSpec.from_query(params, FigureSpec(selection=Selection(layer=1)))
    assert spec.fitted(maps()).selection.layer == 1
    spec.to_query()


def test_an_address_asks_for_no_more_steps_than_the_page_offers() -> None:
    spec = FigureSpec.from_query({"figure": "steps", "steps": ",".join(map(str, range(1, 31)))}, FigureSpec())
    assert spec.steps == tuple(range(1, MAX_STEPS + 1))


def test_the_address_of_a_comparison_names_the_other_head() -> None:
    spec = FigureSpec(view="compare", selection=Selection(layer=1, head=2, against="encoder.0.3", vs="The bus."))
    params = spec.to_query()
    assert (params["against"], params["vs"]) == ("encoder.1.4", "The bus.")
    assert FigureSpec(view="head", selection=spec.selection).to_query()["against"] is None


@settings(max_examples=25, deadline=None)
@given(specs)
def test_a_fitted_draft_exists(spec: FigureSpec) -> None:
    fitted, found = spec.fitted(maps()), maps()
    place = fitted.selection
    assert place.layer < LAYERS and place.head < HEADS
    assert place.step is None or place.step < STEPS
    assert all(head < HEADS for head in fitted.heads) and all(1 <= step <= STEPS for step in fitted.steps)
    if fitted.view != "beam":
        options = vars(fitted.options("en"))
        VIEWS[fitted.view].figure(maps=found, parse=parsed(), atlas=drawn_atlas(), **options)


@pytest.mark.parametrize(
    ("seen", "view"),
    [
        ({}, "head"),
        ({"form": "lines"}, "lines"),
        ({"zoom": "heads"}, "heads"),
        ({"zoom": "heads", "view": "layer"}, "layer"),
        ({"zoom": "heads", "view": "kinds"}, "all"),
        ({"against": "cross.0.1"}, "compare"),
    ],
)
def test_the_figure_is_what_the_explorer_shows(seen: dict[str, Any], view: str) -> None:
    selection = Selection(kind="decoder", layer=1, head=3, step=2, unit="words", scale="sqrt", **seen)
    spec = FigureSpec(style=Style(preset="neurips")).follow_explorer(selection)
    assert spec.view == view
    assert spec.style == Style(preset="neurips", mapping="sqrt")
    place = spec.selection
    assert (place.kind, place.layer, place.head, place.step, place.unit) == ("decoder", 1, 3, 2, "words")


def test_another_sentence_keeps_the_head_but_not_the_tokens() -> None:
    spec = FigureSpec(selection=Selection(layer=1, step=3, branch=2), query=1, steps=(1, 2)).for_new_sentence()
    assert spec == FigureSpec(selection=Selection(layer=1))


@settings(deadline=None)
@given(specs)
def test_a_session_file_holds_the_whole_draft(spec: FigureSpec) -> None:
    assert spec_from_saved(spec_to_saved(spec)) == spec
