"""Every way that options of a figure are written gives the same options back: flags, address, session file, command."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as some

from transformer_core.attention_maps import KINDS
from viz_app.cli.export import parser
from viz_app.components.explorer import Selection
from viz_app.export.command import command_for
from viz_app.export.figure_arguments import view_from_options
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.saved_figure import spec_from_saved, spec_to_saved
from viz_app.figures import VIEWS, Figure, FigureOptions
from viz_app.figures.option import Choice, Number, Numbers, Option, Switch, declared
from viz_app.figures.options import MAX_STEPS, ViewOptions
from viz_app.state.session_file import SavedFigures, SessionFile
from viz_app.state.session_reader import read_session, write_session
from viz_app.text import LANGUAGES


def values(of: Option) -> some.SearchStrategy[Any]:
    """The allowed values of an option."""
    form = of.form
    if isinstance(form, Choice):
        found = some.sampled_from(form.choices)
    elif isinstance(form, Switch):
        found = some.booleans()
    elif isinstance(form, Number):
        found = some.integers(form.low, form.high - form.first)
    else:
        assert isinstance(form, Numbers)
        found = some.sets(some.integers(form.low, 90), min_size=1, max_size=MAX_STEPS).map(lambda n: tuple(sorted(n)))
    return some.just(of.default) | found


views = some.sampled_from(tuple(VIEWS))
view_options = {name: values(each) for name, each in declared(ViewOptions).items()}
places = {name: values(declared(FigureOptions)[name]) for name in ("kind", "layer", "head", "step", "unit")}
specs = some.builds(
    FigureSpec,
    view=views,
    selection=some.builds(
        Selection,
        **places,
        against=some.builds("{}.{}.{}".format, some.sampled_from(KINDS), some.integers(0, 11), some.integers(0, 15)),
    ),
    language=some.sampled_from(LANGUAGES),
    **view_options,
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
@given(specs)
def test_the_command_line_reads_what_the_command_of_a_figure_says(spec: FigureSpec) -> None:
    if spec.view == "lines":  # its record has the heads in any case
        heads = spec.heads or (spec.selection.head,)
        spec = replace(spec, heads=heads, selection=replace(spec.selection, head=heads[0]))
    options = spec.options("en")
    words = shlex.split(command_for(record(options), format="json"))
    assert view_from_options(parser().options(words[4:])) == options


@settings(deadline=None)
@given(specs)
def test_an_address_and_a_session_file_give_the_same_options(spec: FigureSpec) -> None:
    params = {name: value for name, value in spec.to_query().items() if value is not None}
    again = FigureSpec.from_query(params, FigureSpec())
    written = write_session(SessionFile(figures=SavedFigures(spec=spec_to_saved(spec))))
    saved = read_session(written).session.figures.spec
    assert saved is not None
    for found in (again, spec_from_saved(saved)):
        assert found.options("en") == spec.options("en")
        assert {name: getattr(found, name) for name in view_options} == {
            name: getattr(spec, name) for name in view_options
        }


def test_every_option_of_a_view_has_a_label_in_both_languages_and_a_word_for_the_command_line() -> None:
    for name, each in declared(FigureOptions).items():
        assert each.about.endswith("."), name
        assert not each.label or {*each.label} == {*LANGUAGES}, name
    taken = {name for view in VIEWS.values() for name in view.parameters}
    assert {*declared(FigureOptions)} <= taken, "an option that no view has"


@pytest.mark.parametrize(
    ("params", "options"),
    [
        ({"figure": "tree", "confidence": "on"}, {"confidence": True}),
        ({"figure": "beam", "pruned": "off"}, {"pruned": False}),
        ({"figure": "compare", "aligned": "off"}, {"aligned": False}),
        ({"figure": "lines", "heads": "3,1", "query": "2"}, {"heads": (0, 2), "query": 1}),
        ({"figure": "steps", "steps": "1,4,8"}, {"steps": (1, 4, 8)}),
        ({"figure": "pruning", "group": "cross", "score": "chrf", "left": "0"}, {"group": "cross", "left": 0}),
        ({"figure": "head", "unit": "pieces"}, {}),
    ],
)
def test_an_address_of_an_older_version_is_read_as_before(params: dict[str, str], options: dict[str, Any]) -> None:
    spec = FigureSpec.from_query(params, FigureSpec())
    assert spec.view == params["figure"] and spec.selection == Selection()
    assert {name: getattr(spec, name) for name in options} == options
