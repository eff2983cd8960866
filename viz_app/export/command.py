"""From a figure to the command that makes its file again, byte for byte.

A figure of a view of attention is made by `export`, the picture of a lesson's scene by `lesson`, a head of a training's
history by `growth`: the provenance names the lesson or the history.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from viz_app.figures import Figure, Style, file_name
from viz_app.text import DEFAULT_LANGUAGE

DATA_FORMATS = ("csv", "npz", "json")
DPI_FORMATS = ("png", "gif")
# Parameters of a view that are numbers from 0 in code and from 1 on the command line.
FROM_ONE = ("layer", "head", "query", "other_layer", "other_head")


def command_of(figure: Figure, style: Style | None = None, *, format: str = "pdf", dpi: int | None = None) -> str:
    """The command, for a POSIX shell, run where the checkpoint's name leads to it: from the repository's root.

    Args:
        figure: One of `viz_app.figures.VIEWS` with provenance from `viz_app.export.provenance`, or one from
            `viz_app.lessons.scene_figure` or `viz_app.model_card.head_snapshot`.
        style: How it is drawn; its theme, or else the figure's.
        format: Format of the file.
        dpi: Dots per inch, where it is not the default.

    Returns:
        The command; empty for a figure that no command makes, such as one of a user's own arrays, or of a branch of a
        search whose pieces its text does not lead back to.
    """
    told = figure.provenance
    view, name = told.get("view"), "export"
    if not told.get("source"):
        return ""
    if told.get("history"):
        name, options = "growth", [*_grown(told, figure.language)]
    elif not told.get("checkpoint"):
        return ""
    elif told.get("lesson"):
        name, options = "lesson", [*_scene(told, figure.language)]
    elif not view or _pathless(told):
        return ""
    else:
        options = [*_sentence(told), *_other(told), *_view(view)]
    if format not in DATA_FORMATS:
        options += _style(themed(figure, style or Style()))
    if dpi is not None and format in DPI_FORMATS:
        options.append(("dpi", dpi))
    options.append(("out", file_name(figure, format)))
    # With = a sentence that starts with a dash is no option.
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options]
    return shlex.join(["python", "-m", "viz_app", name, *words])


def themed(figure: Figure, style: Style) -> Style:
    """The style with the theme that the figure will be drawn in, told in one way only: none for light."""
    theme = style.theme or figure.theme
    return Style.of({**style.as_dict(), "theme": None if theme == "light" else theme})


def _pathless(told: Mapping[str, Any]) -> bool:
    """Whether no text leads to one of the translations, or nothing tells that of B from that of A."""
    other = told.get("other")
    return "branch" in told or bool(other and ("branch" in other or not any(_other(told))))


def _scene(told: Mapping[str, Any], language: str) -> Iterator[tuple[str, Any]]:
    yield "checkpoint", told["checkpoint"]
    yield "lesson", told["lesson"]
    yield "scene", told["scene"]
    if told["settings"]:
        yield "with", told["settings"]
    yield "text", told["source"]
    if language != DEFAULT_LANGUAGE:
        yield "language", language


def _grown(told: Mapping[str, Any], language: str) -> Iterator[tuple[str, Any]]:
    yield "history", told["history"]
    yield "sentence", told["sentence"]
    yield "head", told["head"]
    if "updates" in told:
        yield "at", told["updates"]
    if language != DEFAULT_LANGUAGE:
        yield "language", language


def _sentence(told: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "checkpoint", told["checkpoint"]
    yield "text", told["source"]
    if told.get("target_given"):
        yield "target", told["translation"]
    for name in ("beam", "alpha"):
        if name in told:
            yield name, told[name]


def _other(told: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    other = told.get("other")
    if not other:
        return
    if other["checkpoint"] != told["checkpoint"]:
        yield "other_checkpoint", other["checkpoint"]
    if other["source"] != told["source"]:
        yield "other_text", other["source"]
    if other.get("target_given"):
        yield "other_target", other["translation"]


def _view(view: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "view", view["name"]
    for name, value in view.items():
        if name in FROM_ONE:
            yield name, value + 1
        elif name == "heads":
            yield name, ",".join(str(head + 1) for head in value)
        elif name == "steps":
            yield name, ",".join(map(str, value))
        elif name == "names":
            yield from ((option, text) for option, text in zip(("name", "other_name"), value, strict=True) if text)
        elif isinstance(value, bool):
            yield name, str(value).lower()
        elif name != "name" and not (name == "unit" and value == "pieces"):
            yield name, value


def _style(style: Style) -> Iterator[tuple[str, Any]]:
    for name, value in style.as_dict().items():
        if isinstance(value, bool):
            yield name, str(value).lower()
        elif isinstance(value, list):
            yield name, ",".join(map(repr, value))
        else:
            yield name, value
