"""Figures in a session file: a spec as the file holds it, and a collected figure made again from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from transformer_core.storage.files import CheckpointError
from viz_app.figure_editor.figure_spec import DPIS, FigureSpec
from viz_app.figure_editor.lesson_figure_spec import LessonFigureSpec
from viz_app.figure_editor.rendering import ExportableFigure, FigureSource, forward_result, make_figure
from viz_app.figures import VIEWS, Style, effective_style
from viz_app.figures.option import declared, mended
from viz_app.figures.options import ViewOptions
from viz_app.lessons.stage.state import LessonState, valid_settings
from viz_app.serving.models.comparison import NotComparable, compare_with_selection
from viz_app.serving.models.selected_translation import selected_translation
from viz_app.serving.models.translation_service import TranslationService
from viz_app.state.session_file import SavedFigure, SavedModel, SavedScene, SavedSpec
from viz_app.text import LANGUAGES

Load = Callable[[str], TranslationService]
_SHARED = ("view", "selection", "language", "dpi", *declared(ViewOptions))


def spec_to_saved(spec: FigureSpec) -> SavedSpec:
    """Return a spec for the file."""
    scene = spec.scene
    return SavedSpec(
        **{name: getattr(spec, name) for name in _SHARED},
        style=spec.style.as_dict(),
        scene=None if scene is None else SavedScene(lesson=scene.lesson, **scene.state.to_dict()),
    )


def spec_from_saved(saved: SavedSpec) -> FigureSpec:
    """Return the spec. Raises ValueError for a view, a style or a scene that this version does not know."""
    if saved.view not in VIEWS or saved.dpi not in DPIS or saved.language not in (None, *LANGUAGES):
        raise ValueError(f"no such figure: {saved.view}, {saved.dpi} dpi, in {saved.language}")
    scene = saved.scene
    state = LessonState(scene.scene, valid_settings(scene.settings)) if scene else None
    return FigureSpec(
        **{name: getattr(saved, name) for name in _SHARED} | mended(ViewOptions, saved),
        style=Style.from_dict(saved.style),
        scene=LessonFigureSpec(scene.lesson, state) if scene and state else None,
    )


def source_to_saved(source: FigureSource, language: str) -> SavedFigure:
    """Return a collected figure for the file: what it was made of, and the language of the page that it was made on."""
    model = SavedModel(name=source.model, weights=source.weights)
    return SavedFigure(spec=spec_to_saved(source.spec), text=source.text, model=model, language=language)


def make_again(saved: SavedFigure, load: Load, session: str) -> ExportableFigure | None:
    """Return a collected figure as it was; None where this version or its model cannot make it.

    Args:
        saved: From the file; its model is there, with the same weights.
        load: Gives the service of a model by its name.
        session: Who asks.

    Raises:
        Superseded: A newer request of the session took over.
    """
    try:
        spec = spec_from_saved(saved.spec)
        if saved.language not in LANGUAGES:
            return None
        source = FigureSource(spec, saved.text, saved.model.name, saved.model.weights)
        if spec.scene is not None:
            return _scene(source, saved.language, load, session)
        return _attention(source, saved.language, load, session)
    except (ValueError, NotComparable, CheckpointError):
        return None


def _scene(source: FigureSource, language: str, load: Load, session: str) -> ExportableFigure | None:
    spec = source.spec
    assert spec.scene is not None, "a spec of attention"
    words = spec.language or language
    figure = spec.scene.figure(source.text, words, lambda: load(source.model), session)
    if figure is None:
        return None
    return ExportableFigure(figure, effective_style(spec.style, figure), spec.dpi, language, source)


def _attention(source: FigureSource, language: str, load: Load, session: str) -> ExportableFigure | None:
    served, spec = load(source.model), source.spec
    sentence = served.validate(source.text)
    if sentence.status != "good":
        return None
    best = served.translate(session, sentence.source)
    found = selected_translation(served, session, best, spec.selection)
    result = found.shown
    spec = replace(spec, selection=found.selection).fitted(result.maps)
    other = None
    if spec.view == "compare":
        other = compare_with_selection(served, session, sentence.text, spec.selection)
    if spec.view == "beam" and not best.translation.history:
        return None
    figure = make_figure(spec, language, forward_result(served, result, best, found.selection.branch), other)
    return ExportableFigure(figure, spec.style, spec.dpi, language, replace(source, spec=spec))
