"""Figure of a scene for print, with its words and its provenance, so that a command reproduces it."""

from __future__ import annotations

import dataclasses
from typing import Any

from viz_app.export.provenance import checkpoint_record
from viz_app.figures.model.figure import Figure
from viz_app.figures.text import chart_captions
from viz_app.lessons import load_lesson
from viz_app.lessons.context import LessonContext
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage.state import settings_to_param
from viz_app.serving.models.translation_service import TranslationService


def figure_with_provenance(name: str, context: LessonContext) -> Figure | None:
    """Return the figure of the scene in `context.state`; None for a scene without one.

    Its settings are rounded as in an address, so that the link and the command lead to the same figure. A figure
    without words of its own has the title of the scene, and a caption from its numbers.

    Raises:
        KeyError: There is no such lesson.
        Superseded: A newer request took over the model.
    """
    state = context.state.as_in_address
    words, language = load_lesson(name, context.t.language), context.t.language
    scene = next((each for each in words.scenes if each.name == state.scene), words.scenes[0])
    placed_state = dataclasses.replace(state, scene=scene.name)
    placed = dataclasses.replace(context, state=placed_state, parses=context.service.parses)
    drawn = lesson_module(name).figure(scene.name, placed)
    if drawn is None:
        return None
    translator = context.service.translator
    provenance: dict[str, Any] = {
        "lesson": name,
        "scene": scene.name,
        "settings": settings_to_param(state.settings) or "",
        **checkpoint_record(translator),
        "source": context.text,
    }
    drawn = chart_captions.with_caption(dataclasses.replace(drawn, title=drawn.title or scene.title, language=language))
    return dataclasses.replace(
        drawn, name=f"headlight_{name}_{scene.name}", provenance=provenance | dict(drawn.provenance)
    )


def fit_sentence(typed: str, service: TranslationService) -> str:
    """Return the sentence if the model can read it, else the first example."""
    sentence = service.validate(typed)
    return sentence.text if sentence.status == "good" else service.first_example
