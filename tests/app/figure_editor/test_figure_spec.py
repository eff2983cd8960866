"""The state of the page Figures, and every way that options are written: flags, address, command."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as some

from tests.app.figures.samples import flows
from tests.atlas_samples import drawn_atlas
from tests.browser.explorer_samples import sample
from transformer_core.attention_maps import KINDS, AttentionMaps
from viz_app.cli import PROGRAM
from viz_app.components.explorer.selection import Selection
from viz_app.export.command import command_for
from viz_app.export.figure_arguments import style_from_options, view_from_options
from viz_app.figure_editor.figure_spec import DPIS, FigureSpec
from viz_app.figures import VIEWS, Figure, FigureOptions, ParserOutput, Style
from viz_app.figures.model.style import Range
from viz_app.figures.option import Choice, Number, NumberOrText, Numbers, Option, Real, Switch, Text, declared
from viz_app.figures.options import MAX_STEPS, ViewOptions
from viz_app.text import LANGUAGES

LAYERS, HEADS, SOURCE, STEPS = 2, 4, 5, 6


def maps() -> AttentionMaps:
    return sample(["a"] * (SOURCE - 1), ["b"] * (STEPS - 1), layers=LAYERS, heads=HEADS)


def parsed() -> ParserOutput:
    """A flat tree over as many words as the maps have source tokens."""
    symbols = ["(S", *["XX"] * SOURCE, ")S"]
    return ParserOutput(["word"] * SOURCE, symbols, [-0.1] * len(symbols), range(SOURCE))


def values(of: Option) -> some.SearchStrategy[Any]:
    """The allowed values of an option."""
    form = of.form
    if isinstance(form, Choice):
        result: some.SearchStrategy[Any] = some.sampled_from(form.choices)
    elif isinstance(form, Switch):
        result = some.booleans()
    elif isinstance(form, Number):
        result = some.integers(form.low, form.high - form.first)
    elif isinstance(form, Real):
        result = some.sampled_from((float(form.low), 77.5 if form.high > 77.5 else 7.5, float(form.high)))
    elif isinstance(form, NumberOrText):
        result = some.integers(0, 90) | some.sampled_from(("b", "</s>", "-x"))
    elif isinstance(form, Text):
        result = some.sampled_from(("der", "--out", "한국어"))
    elif isinstance(form, Range):
        result = some.sampled_from(("shared", (0.0, 0.5), (0.25, 1.0)))
    else:
        assert isinstance(form, Numbers)
        result = some.sets(some.integers(form.low, 90), min_size=1, max_size=MAX_STEPS).map(lambda n: tuple(sorted(n)))
    return some.just(of.default) | result


def declared_values(kind: type) -> dict[str, some.SearchStrategy[Any]]:
    return {name: values(each) for name, each in declared(kind).items()}


PLACE = ("kind", "layer", "head", "step", "unit", "branch", "force")
places = some.builds(Selection, **{name: values(declared(Selection)[name]) for name in PLACE})
heads = some.builds("{}.{}.{}".format, some.sampled_from(KINDS), some.integers(1, 12), some.integers(1, 16))
compared = some.builds(replace, places, against=heads)
styles = some.builds(Style, **declared_values(Style) | {"theme": some.sampled_from((None, "dark"))})
specs = some.builds(
    FigureSpec,
    view=some.sampled_from(tuple(VIEWS)),
    selection=places,
    language=some.sampled_from((None, *LANGUAGES)),
    style=styles,
    dpi=some.sampled_from(DPIS),
    **declared_values(ViewOptions),
)


def record(options: FigureOptions) -> Figure:
    """A figure whose record is that of a view: the values of the view's options, except those at their defaults."""
    view: dict[str, Any] = {"name": options.view, "language": options.language}
    for name in VIEWS[options.view].parameters:
        if name in declared(FigureOptions):
            value = getattr(options, name)
            if value != declared(FigureOptions)[name].default or name in VIEWS[options.view].required:
                view[name] = value
    if "heads" in view:
        view.pop("head", None)
    provenance = {"checkpoint": ".", "source": "a b", "view": view}
    return Figure(provenance=provenance | ({"atlas": {"a": 1}} if VIEWS[options.view].of_atlas else {}))


@settings(deadline=None, max_examples=40, phases=(Phase.explicit, Phase.reuse, Phase.generate))  # it parses slowly
@given(specs, compared)
def test_the_command_line_reads_what_the_command_of_a_figure_says(spec: FigureSpec, place: Selection) -> None:
    spec = replace(spec, selection=place)
    if spec.view == "lines":  # its record has the heads in any case
        heads = spec.heads or (spec.selection.head,)
        spec = replace(spec, heads=heads, selection=replace(spec.selection, head=heads[0]))
    options = spec.options("en")
    words = shlex.split(command_for(record(options), spec.style, format="pdf"))
    arguments = PROGRAM.parser("export").options(words[4:])
    assert view_from_options(arguments) == options
    assert style_from_options(arguments) == spec.style


@settings(deadline=None)
@given(specs)
def test_an_address_holds_the_whole_draft(spec: FigureSpec) -> None:
    params = {name: value for name, value in spec.to_query().items() if value is not None}
    assert FigureSpec.from_query(params, FigureSpec()) == spec


def test_an_address_asks_for_no_more_steps_than_the_page_offers() -> None:
    spec = FigureSpec.from_query({"figure": "steps", "steps": ",".join(map(str, range(1, 31)))}, FigureSpec())
    assert spec.steps == tuple(range(1, MAX_STEPS + 1))


def test_the_address_of_a_comparison_names_the_other_head() -> None:
    spec = FigureSpec(view="compare", selection=Selection(layer=1, head=2, against="encoder.1.4", vs="The bus."))
    params = spec.to_query()
    assert (params["against"], params["vs"]) == ("encoder.1.4", "The bus.")
    assert FigureSpec(view="head", selection=spec.selection).to_query()["against"] is None


@settings(max_examples=25, deadline=None)
@given(specs)
def test_a_fitted_draft_exists(spec: FigureSpec) -> None:
    spec = spec if spec.left is None else replace(spec, left=min(spec.left, 8))  # the page knows how many there are
    fitted, result = spec.fitted(maps()), maps()
    place = fitted.selection
    assert place.layer < LAYERS and place.head < HEADS
    assert place.step is None or place.step < STEPS
    assert all(head < HEADS for head in fitted.heads) and all(1 <= step <= STEPS for step in fitted.steps)
    if fitted.view != "beam":
        options = vars(fitted.options("en"))
        VIEWS[fitted.view].draw(maps=result, parse=parsed(), atlas=drawn_atlas(), flows=flows(result), **options)


@pytest.mark.parametrize(
    ("seen", "view"),
    [
        ({}, "head"),
        ({"form": "lines"}, "lines"),
        ({"form": "flow"}, "flow"),
        ({"zoom": "heads"}, "heads"),
        ({"zoom": "heads", "view": "layer"}, "layer"),
        ({"zoom": "heads", "view": "kinds"}, "all"),
        ({"against": "cross.1.2"}, "compare"),
    ],
)
def test_the_figure_is_what_the_explorer_shows(seen: dict[str, Any], view: str) -> None:
    selection = Selection(kind="decoder", layer=1, head=3, step=2, unit="words", scale="sqrt", **seen)
    spec = FigureSpec(style=Style(preset="neurips")).follow_explorer(selection, maps().outputs.words)
    assert spec.view == view
    assert spec.style == Style(preset="neurips", mapping="sqrt")
    place = spec.selection
    assert (place.kind, place.layer, place.head, place.step, place.unit) == ("decoder", 1, 3, 2, "words")


def test_the_flow_of_the_explorer_has_its_token() -> None:
    selection = Selection(form="flow", pin="q2", unfold=True, share=60, versus="der")
    spec = FigureSpec().follow_explorer(selection, maps().outputs.words)
    assert (spec.word, spec.unfold, spec.share, spec.against) == (2, True, 60, "der")
    for word, place in ((STEPS, None), ("der", None), ("</s>", STEPS - 1)):
        fitted = replace(spec, word=word).fitted(maps())
        there = place is not None
        assert (fitted.word, fitted.unfold, fitted.against) == (place, there, "der" if there else None)


def test_another_sentence_keeps_the_head_but_not_the_tokens() -> None:
    place = Selection(layer=1, step=3, branch=2, force="a")
    spec = FigureSpec(selection=place, query=1, steps=(1, 2)).for_new_sentence()
    assert spec == FigureSpec(selection=Selection(layer=1))


def test_every_option_of_a_view_has_a_word_for_the_command_line() -> None:
    for name, each in declared(FigureOptions).items():
        assert each.about.endswith("."), name
    taken = {name for view in VIEWS.values() for name in view.parameters}
    assert {*declared(FigureOptions)} <= taken, "an option that no view has"
