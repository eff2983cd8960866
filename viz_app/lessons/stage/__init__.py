"""Stage of the lessons: one browser component that shows a lesson's scenes, one picture at a time.

    payload = pack(lesson("positions", "en"), values=..., arrays=..., texts=t.table("lesson"), state=state)
    state, leaves = stage("positions", payload, key="lesson-positions", state=state, on_onward=go_on)

Everything that moves is drawn in the browser. Settings are reported to Python a moment later, for the address and for
downloads; at once for controls that ask the model.

Each lesson has its own code, `lessons/<lesson>/js/main.js`, which travels once, when the lesson is opened.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from viz_app.components import events
from viz_app.components.modules import join_modules
from viz_app.components.registration import component
from viz_app.components.styles import join_styles
from viz_app.lessons.lesson_markdown import BENCHES, bench_folders
from viz_app.lessons.stage.payload import pack
from viz_app.lessons.stage.state import (
    MAX_SETTINGS,
    LessonState,
    settings_from_param,
    settings_to_param,
)
from viz_app.serving.checked_json import converted

__all__ = [
    "LessonState",
    "join_code",
    "kept_predictions",
    "last_predictions",
    "last_report",
    "lesson_code",
    "pack",
    "settings_from_param",
    "settings_to_param",
    "stage",
]

_FOLDER = Path(__file__).parent
_STATE = "state"
_PREDICTED = "predicted"
_Predictions = Annotated[dict[str, Annotated[int, Meta(ge=0)]], Meta(max_length=MAX_SETTINGS)]

_kept = component("kept_predictions", js=lambda: join_modules(_FOLDER / "js" / "kept_predictions.js"))
_mount = component("lesson", html='<div class="lesson"></div>\n', js=lambda: join_modules(_FOLDER / "js" / "mount.js"))


@cache
def _code_of(name: str) -> Any:
    """Return the component with a lesson's code; its message never changes, so that it is sent once."""
    return component(f"lesson_code_{name}", js=lambda: lesson_code(name))


def lesson_code(name: str) -> str:
    """Return the style and the JavaScript of a lesson as one ES module; its default export registers the scenes."""
    style = json.dumps(join_styles(_FOLDER / "lesson.css", "explained", "tool", "presenting"))
    return f"const STYLE = {style};\n{join_code(name)}"


def join_code(name: str) -> str:
    """Join the JavaScript modules of a lesson, from its `js/main.js`; of the Lab, from all its benches.

    The scene of a bench lies in `benches/NAME/NAME.js`; its class has the same name with a capital.
    """
    entry = _FOLDER.parent / name / "js" / "main.js"
    names = [folder.name for folder in bench_folders(entry.parents[1])]
    if not names:
        return join_modules(entry)
    scenes = {each: each.title().replace("_", "") for each in names}
    imports = {f"../{BENCHES}/{each}/{each}.js": scene for each, scene in scenes.items()}
    imports["../../stage/js/provide.js"] = "registerScenes"
    lines = [f'import {{ {what} }} from "{path}";' for path, what in imports.items()]
    provided = ", ".join(f"{each}: {scene}" for each, scene in scenes.items())
    lines.append(f'export default function register() {{ registerScenes("{name}", {{ {provided} }}); }}')
    return join_modules(entry, "\n".join(lines))


def stage(
    name: str, payload: bytes, *, key: str, state: LessonState, on_onward: Callable[[], None]
) -> tuple[LessonState, bool]:
    """Show a lesson.

    Args:
        name: Of the lesson.
        payload: From `pack`.
        key: Identity of the component; under one key the scene stays when the numbers change.
        state: Start of a fresh component, and the state until the browser reports.
        on_onward: Called, at least once, when the reader goes on from the last scene.

    Returns:
        The state, and whether the reader just went on from the last scene.
    """
    _code_of(name)(key=f"code-of-{key}", data={}, height="content")
    result: Any = _mount(
        key=key,
        data=payload,
        default={_STATE: state.to_dict()},
        on_state_change=events.keep,
        on_onward_change=events.keep,
        on_predicted_change=events.keep,
    )
    onward = events.new_event(f"{key}-onward", result.get("onward"))
    if onward is not None:
        on_onward()
        events.answered(f"{key}-onward", onward)
    return LessonState.from_report(result.get(_STATE)) or state, onward is not None


def last_report(key: str) -> LessonState | None:
    """Return the last report of the browser, before the component is mounted in this run; None for none."""
    return LessonState.from_report(events.last_report(key, _STATE))


def last_predictions(key: str) -> dict[str, int]:
    """Return what the reader predicted first: the number of a choice by scene; empty for an invalid report."""
    predictions: dict[str, int] | None = converted(events.last_report(key, _PREDICTED), _Predictions)
    return predictions or {}


def kept_predictions(lessons: Sequence[str]) -> dict[tuple[str, str], int]:
    """Return what the reader's device has kept of predictions: the number of a choice by lesson and scene."""
    key = "kept-predictions"
    report = events.last_report(key, _PREDICTED)
    data = {"lessons": list(lessons), "known": report is not None}
    _kept(key=key, data=data, height="content", on_predicted_change=events.keep)
    kept: dict[str, dict[str, int]] = converted(report, dict[str, _Predictions]) or {}
    return {(name, scene): choice for name in lessons for scene, choice in kept.get(name, {}).items()}
