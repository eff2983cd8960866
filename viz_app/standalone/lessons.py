"""Prepare a lesson for a page without Python: every scene, with the answers to the controls that ask Python."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from viz_app.components.buffer import split_buffer
from viz_app.components.modules import join_modules
from viz_app.export.bundle import Turn
from viz_app.lessons import Lesson, load_lesson
from viz_app.lessons.catalogue import core_scenes
from viz_app.lessons.context import LessonContext
from viz_app.lessons.handout import lesson_paper
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import LessonState, lesson_code, pack
from viz_app.standalone.document import check_size, standalone_page
from viz_app.standalone.origin import page_origin
from viz_app.standalone.paper import ALLOWED, paper
from viz_app.text import texts

_FOLDER = Path(__file__).parent
_OWN = ("id", "answers", "state")  # of a header, besides values and arrays


@dataclass(frozen=True)
class PreparedLesson:
    """A lesson for a page without Python.

    Args:
        words: Its words, of the scenes that are there.
        controls: By scene the controls that it has answers for.
        data: JSON of header, values and states, which js/prepared.js reads.
        blocks: Arrays by name.
    """

    words: Lesson
    controls: Mapping[str, list[str]]
    data: bytes
    blocks: Mapping[str, bytes]


def prepare_lesson(
    name: str,
    context: LessonContext,
    onward: str | None = None,
    *,
    first: bool = False,
    turn: Turn = nullcontext,
) -> PreparedLesson:
    """Compute the numbers of every scene.

    Args:
        name: Of the lesson.
        context: Sentence, language and model; its scene gets its settings.
        onward: Title of the page after its last scene; None for none.
        first: Whether each scene has its first settings alone.
        turn: Entered for each scene, so that others compute between two of them.

    Raises:
        PageTooLarge: The arrays are too large.
        Superseded: When a newer request of the session took over.
    """
    module, words = lesson_module(name), load_lesson(name, context.language)
    prepared = {scene.name: [] if first else list(module.prepared(scene.name, context)) for scene in words.scenes}
    controls = {scene: list(settings[0]) if settings else [] for scene, settings in prepared.items()}
    labels = context.t.table("lesson") | context.t.table(f"lesson_{name}")
    packed = partial(pack, words, texts=labels, onward=onward, prepared=controls, core=core_scenes(name))
    pool, states = _Pool(), {}
    for scene, settings in prepared.items():
        here = context.state.settings if context.state.scene == scene else {}
        for each in settings or [{}]:
            state = LessonState(scene, {**here, **each})
            with turn():
                numbers = module.data(dataclasses.replace(context, state=state))
            payload = packed(values=numbers.values, arrays=numbers.arrays, answers=numbers.answers, state=state)
            states[" ".join((scene, *map(_written, each.values())))] = pool.state(payload)
    lesson = {"header": pool.header, "values": list(pool.values), "states": states}
    data = json.dumps(lesson, separators=(",", ":"), allow_nan=False).encode()
    return PreparedLesson(words, controls, data, pool.blocks)


def render_lesson(
    name: str,
    context: LessonContext,
    onward: tuple[str, str] | None = None,
    *,
    turn: Turn = nullcontext,
) -> bytes:
    """Return a lesson as a page, which prints as a handout; the same arguments give the same bytes.

    Args:
        name: Of the lesson.
        context: Sentence, language and model; its scene gets its settings.
        onward: Title and address of the page after its last scene; None for none.
        turn: Entered for each scene, so that others compute between two of them.

    Raises:
        PageTooLarge: The arrays are too large.
        Superseded: When a newer request of the session took over.
    """
    # Made in a thread beside the app's page: neither may take the other's turn at the model.
    context = dataclasses.replace(context, session=f"{context.session}:page:{name}")
    title, address = onward or (None, "")
    lesson = prepare_lesson(name, context, title, turn=turn)
    modules = [lesson_code(name), join_modules(_FOLDER / "js" / "lesson_page.js")]
    return standalone_page(
        lesson.words.title,
        modules,
        {"controls": lesson.controls, "onward": address},
        {"lesson": lesson.data, **lesson.blocks},
        language=context.language,
        origin=page_origin(context.service, texts(context.language), [("lesson", name), ("text", context.text)]),
        paper=paper(lesson_paper(lesson.words, context.t), context),
        allowed=ALLOWED,
    )


def _written(value: object) -> str:
    """Write a setting as JavaScript does."""
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


class _Pool:
    """Values and arrays of many payloads, each of them once."""

    def __init__(self) -> None:
        self.header: dict[str, Any] = {}
        self.values: dict[str, int] = {}  # number of each value, as JSON
        self.blocks: dict[str, bytes] = {}  # arrays by their hashes

    def state(self, payload: bytes) -> dict[str, Any]:
        """Add a payload; return how prepared.js puts it together again. Raises PageTooLarge."""
        header, data = split_buffer(payload)
        fields = {name: header.pop(name) for name in _OWN}
        values, arrays = header.pop("values"), header.pop("arrays")
        self.header = header
        written = {name: json.dumps(value, separators=(",", ":")) for name, value in values.items()}
        fields["values"] = {name: self.values.setdefault(text, len(self.values)) for name, text in written.items()}
        fields["arrays"] = dict(self._placed(arrays, data))
        check_size(sum(map(len, self.blocks.values())))
        return fields

    def _placed(self, arrays: Mapping[str, Any], data: memoryview) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, array in arrays.items():
            size = int(np.prod(array["shape"])) * np.dtype(array["type"]).itemsize
            part = bytes(data[array["offset"] : array["offset"] + size])
            block = f"a{hashlib.blake2b(part, digest_size=12).hexdigest()}"
            self.blocks[block] = part
            yield name, {"shape": array["shape"], "type": array["type"], "block": block}
