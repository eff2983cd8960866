"""A lesson's picture by its address, and from its address to a picture that a command makes again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from viz_app.export import command_for
from viz_app.figure_editor.figure_spec import FigureSpec
from viz_app.figure_editor.lesson_figure_spec import LessonFigureSpec, invalid_part
from viz_app.figures import Figure, Style, export, formats_of
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import STAGES
from viz_app.lessons.stage import LessonState, settings_from_param
from viz_app.serving.models.translation_service import TranslationService

SCENES = [(name, scene.name) for name in STAGES for scene in load_lesson(name, "en").scenes]
NAMES = some.from_regex(r"[a-z][a-z0-9_]{0,15}", fullmatch=True)
VALUES = some.booleans() | some.floats(-1e6, 1e6) | some.text(max_size=12)


def drawn(service: TranslationService, scene: LessonFigureSpec, language: str = "en") -> Figure | None:
    return scene.figure("The dog.", language, lambda: service, "me")


@settings(deadline=None, max_examples=50)
@given(some.sampled_from(SCENES), some.dictionaries(NAMES, VALUES, max_size=6))
def test_an_address_holds_the_whole_scene(place: tuple[str, str], given: dict[str, Any]) -> None:
    scene = LessonFigureSpec(place[0], LessonState(place[1], given))
    params = {name: value for name, value in scene.to_query().items() if value is not None}
    assert LessonFigureSpec.from_query(params) == scene
    assert invalid_part(params) == ""
    spec = FigureSpec(style=Style(preset="a4", caption=True), language="ko", dpi=600, scene=scene)
    kept = {name: value for name, value in spec.to_query().items() if value is not None}
    assert FigureSpec.from_query(kept, FigureSpec()) == spec
    assert not {"figure", "kind", "layer", "head"} & set(kept)


def test_a_scene_without_a_name_is_the_first() -> None:
    assert LessonFigureSpec("positions") == LessonFigureSpec("positions", LessonState("waves"))
    assert LessonFigureSpec.from_query({"lesson": "positions"}) == LessonFigureSpec("positions")
    assert LessonFigureSpec.from_query({}) is None


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({"lesson": "../../etc"}, "lesson"),
        ({"lesson": ""}, "lesson"),
        ({"lesson": "positions", "scene": "no"}, "scene"),
        ({"lesson": "positions", "with": "<script>"}, "settings"),
        ({"lesson": "positions", "with": "at:1,at:$(x)"}, "settings"),
        ({"lesson": "positions", "with": "at:nan"}, "settings"),
        ({"scene": "no", "with": "<"}, ""),  # of no lesson, so of no meaning here
    ],
)
def test_what_names_nothing_is_refused(params: dict[str, str], why: str) -> None:
    assert invalid_part(params) == why
    assert (LessonFigureSpec.from_query(params) is None) == (why in ("lesson", "scene") or "lesson" not in params)


@pytest.mark.parametrize("given", [("no", LessonState()), ("positions", LessonState("../x"))])
def test_a_scene_that_does_not_exist_is_an_error(given: tuple[str, LessonState]) -> None:
    with pytest.raises(ValueError, match="must be one of"):
        LessonFigureSpec(*given)


# Settings that are real ones somewhere, with values that no control gives.
HOSTILE = (
    "at:1e9,head:-5,k:1e9,layer:99,place:-3,p:7,epsilon:9,part:x,side:on,first:1e9,second:-1,pickedat:0,picked:a.b.c",
    "head:on,at:off,width:1024,warmup:-1,size:0,pair:x,budget:-7,kind:9,q:zz,k:zzzzzzzzzzzzzzzzzzzzzzzz,d:1024,r:-3",
)


@pytest.mark.parametrize("name", STAGES)
def test_hostile_settings_give_a_picture_all_the_same(name: str, service: TranslationService) -> None:
    for lesson_name, scene in SCENES:
        if lesson_name != name:
            continue
        plain = drawn(service, LessonFigureSpec(name, LessonState(scene)))
        for setting in HOSTILE:
            found = drawn(service, LessonFigureSpec(name, LessonState(scene, settings_from_param(setting))), "ko")
            assert (found is None) == (plain is None), scene
            if found is not None:
                assert type(found) is type(plain) and found.title and found.caption and found.alt, scene
                assert export(found, "svg") and "csv" in formats_of(found)
                assert "viz_app lesson" in command_for(found) and f"--scene={scene}" in command_for(found)


def test_a_choice_of_digits_survives_its_address(service: TranslationService) -> None:
    """An address tells the word "1024" as a number."""
    state = LessonState("crossover", settings_from_param("d:1024"))
    assert state.choice("d", "512", ("128", "512", "1024")) == "1024"
    assert LessonState("x", {"d": True}).choice("d", "512", ("512", "on")) == "on"
    wide, plain = (
        drawn(service, LessonFigureSpec("why", LessonState("crossover", each))) for each in ({"d": "1024"}, {})
    )
    assert wide is not None and plain is not None and export(wide, "csv") != export(plain, "csv")


@pytest.mark.parametrize("typed", ["Ich besitze gar keinen Wagen.", "nan", "on", "1e5", "100 %, \uac00"])
def test_the_picture_is_of_the_translation_that_the_reader_typed(typed: str, service: TranslationService) -> None:
    scene = LessonFigureSpec("decoding", LessonState("bleu", {"text": typed}))
    figure = drawn(service, scene)
    assert figure is not None
    assert all(word in f"{figure.title} {figure.caption}" for word in typed.replace(",", "").rstrip(".").split())
    params = {name: value for name, value in scene.to_query().items() if value is not None}
    linked = LessonFigureSpec.from_query(params)
    assert linked is not None
    again = drawn(service, linked)
    assert again is not None and again.fingerprint == figure.fingerprint


def test_the_style_goes_with_the_picture_but_its_range_stays() -> None:
    spec = FigureSpec(style=Style(preset="a4", value_range=(0.0, 0.5), mapping="sqrt", scale="grey"))
    scene = spec.with_scene(LessonFigureSpec("positions"))
    assert scene.style == Style(preset="a4", scale="grey") and scene.with_scene(None).scene is None
    assert scene.follow_explorer(scene.selection).scene is None
