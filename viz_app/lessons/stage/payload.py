"""Payload of a lesson for the browser: one byte buffer.

A header and arrays, see `viz_app.components.buffer`. The header names every array with its shape, type and offset; an
array starts at a multiple of its item's size.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from viz_app.components.buffer import ALIGNMENT, join_buffer
from viz_app.components.palette import palettes
from viz_app.lessons import Lesson, Scene
from viz_app.lessons.stage.state import LessonState

TYPES = {"float32": "f4", "uint8": "u1", "int32": "i4"}


def pack(
    lesson: Lesson,
    *,
    values: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    texts: Mapping[str, str],
    state: LessonState,
    answers: Mapping[str, Any] | None = None,
    onward: str | None = None,
    core: Sequence[str] = (),
    on_route: bool = False,
    share: Mapping[str, Any] | None = None,
    prepared: Mapping[str, Sequence[str]] | None = None,
) -> bytes:
    """Pack a lesson for the browser.

    Args:
        lesson: Its words.
        values: Its numbers and labels as plain values, such as `tokens`.
        arrays: Its larger numbers: float32 (others are converted), uint8 or int32.
        texts: Labels of the stage and of this lesson in the reader's language.
        state: Start of a fresh stage.
        answers: Settings for which `values` and `arrays` were computed, where a control asks the server.
        onward: Title of the stop after the last scene; None for none.
        core: Scenes that a route shows, the others being further ones; empty for all.
        on_route: Whether the reader goes from core scene to core scene.
        share: The link to the scene and its QR code, for the presenter's view; None for none.
        prepared: Of a page without Python, the controls of each scene that it has answers for; None where Python
            answers.

    Returns:
        The buffer; its header has `id`, a hash of everything but the state and the link.
    """
    placed, data = _place(arrays)
    header: dict[str, Any] = {
        "name": lesson.name,
        "language": lesson.language,
        "title": lesson.title,
        "scenes": [_scene(scene) for scene in lesson.scenes],
        "values": dict(values),
        "arrays": placed,
        "texts": dict(texts),
        "answers": dict(answers or {}),
        "onward": onward,
        "core": list(core),
        "on_route": on_route,
        "colours": palettes(),
        "prepared": prepared,
    }
    digest = hashlib.blake2b(json.dumps(header).encode() + data, digest_size=12).hexdigest()
    return join_buffer(header | {"id": digest, "state": state.to_dict(), "share": dict(share) if share else None}, data)


def _place(arrays: Mapping[str, npt.NDArray[Any]]) -> tuple[dict[str, Any], bytes]:
    """Lay out the arrays: shape, type and offset of each, and the bytes."""
    placed: dict[str, Any] = {}
    parts: list[bytes] = []
    end = 0
    for name, array in arrays.items():
        values = np.ascontiguousarray(array if array.dtype.name in TYPES else array.astype(np.float32))
        padding = -end % ALIGNMENT
        parts += [b"\0" * padding, values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()]
        placed[name] = {"shape": list(values.shape), "type": values.dtype.name, "offset": end + padding}
        end += padding + values.nbytes
    return placed, b"".join(parts)


def _scene(scene: Scene) -> dict[str, Any]:
    question = scene.question
    return {
        "name": scene.name,
        "title": scene.title,
        "tab": scene.tab,
        "section": scene.section,
        "math": scene.math,
        "prose": scene.prose,
        "question": question
        and {
            "choices": [{"text": choice.text, "right": choice.right} for choice in question.choices],
            "answer": question.answer,
        },
    }
