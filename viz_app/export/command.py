"""The command that reproduces a figure's file, byte for byte."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from viz_app.figures import RENDERERS, Figure, FigureOptions, Style, file_name
from viz_app.figures.option import declared

DATA_FORMATS = tuple(format for format, renderer in RENDERERS.items() if renderer.is_data)
DPI_FORMATS = tuple(format for format, renderer in RENDERERS.items() if renderer.has_dpi)
MAX_COMMAND = 100_000  # characters of a command that is read from a file
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tabs and ends of lines
# A word as `_quoted` writes it; each alternative starts with a character of its own.
_WORD = re.compile(r"""(?:[\w@%+=:,./-]|'[^']*'|"'")+|\$'(?:[^'\\]|\\.)*'""", re.ASCII | re.DOTALL)
_WORDS = re.compile(f"(?:{_WORD.pattern})(?: (?:{_WORD.pattern}))*", _WORD.flags)


def command_for(figure: Figure, style: Style | None = None, *, format: str = "pdf", dpi: int | None = None) -> str:
    """Return the command for a POSIX shell, to be run in the repository's root.

    Args:
        figure: One of `viz_app.figures.VIEWS` with provenance from `viz_app.export.provenance`.
        style: How it is drawn; its theme, or else the figure's.
        format: Format of the file.
        dpi: Dots per inch, where it is not the default.

    Returns:
        The command; empty for a figure that no command makes, such as one of a user's own arrays, or of a branch of a
        search whose tokens its text does not lead back to.
    """
    provenance = figure.provenance
    view = provenance.get("view")
    if provenance.get("table") and view and provenance.get("checkpoint"):
        parameters = {name: value for name, value in view.items() if name != "measure"}  # the table has one
        options = [
            ("checkpoint", provenance["checkpoint"]),
            ("table", provenance["table"]["name"]),
            *_view_options(parameters),
        ]
    elif provenance.get("atlas") and view and provenance.get("checkpoint"):
        options = [("checkpoint", provenance["checkpoint"]), *_view_options(view)]
    elif not (provenance.get("source") and provenance.get("checkpoint") and view) or _is_irreproducible(provenance):
        return ""
    else:
        options = [*_sentence_options(provenance), *_other_options(provenance), *_view_options(view)]
    if format not in DATA_FORMATS:
        options += _style_options(with_theme(figure, style or Style()))
    if dpi is not None and format in DPI_FORMATS:
        options.append(("dpi", dpi))
    options.append(("out", file_name(figure, format)))
    return _command("export", options)


def command_for_set(
    name: str, provenance: Mapping[str, Any], style: Style, out: str, *, formats: Iterable[str] | None = None
) -> str:
    """Return the command that makes a set of figures again; empty where none does.

    Args:
        name: Name of the set.
        provenance: Of its first figure; without a sentence for a set that has its own.
        style: How the figures are drawn.
        out: Name of the zip or folder.
        formats: Formats of the figures; None for the default of the set.
    """
    if not provenance.get("checkpoint") or _is_irreproducible(provenance):
        return ""
    sentence = _sentence_options(provenance) if "source" in provenance else [("checkpoint", provenance["checkpoint"])]
    view = [each for each in _view_options({"name": "", **provenance.get("view", {})}) if each[0] != "view"]
    file_formats = [("format", ",".join(formats))] if formats else []
    return _command("export", [*sentence, ("set", name), *view, *_style_options(style), *file_formats, ("out", out)])


def command_for_page(checkpoint: str, options: Iterable[tuple[str, Any]], *, language: str) -> str:
    """Return the command that makes a page again; empty for a model without a folder."""
    words = [("checkpoint", checkpoint), *options, ("language", language), ("out", "headlight_page.html")]
    return _command("page", words) if checkpoint else ""


def _command(name: str, options: Iterable[tuple[str, Any]]) -> str:
    # With = a sentence that starts with a dash is no option.
    words = [f"--{option.replace('_', '-')}={value}" for option, value in options]
    return " ".join(["python", "-m", "viz_app", name, *map(_quoted, words)])


def _quoted(word: str) -> str:
    """Quote a word for a POSIX shell, without characters that control the terminal.

    The end of a paste is such a sequence (ESC [ 201 ~): what stood behind it would run as if it were typed.
    """
    if not _CONTROL.search(word):
        return shlex.quote(word)
    text = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + _CONTROL.sub(lambda match: "".join(f"\\{byte:03o}" for byte in match[0].encode()), text) + "'"


def command_words(command: str) -> list[str]:
    """Return the words of a command that `command_for` wrote; no shell reads it.

    Raises:
        ValueError: It is too long, or anything else, such as two commands.
    """
    if len(command) > MAX_COMMAND or not _WORDS.fullmatch(command):
        raise ValueError("not one command as Headlight writes it")
    return [_unquoted(word) for word in _WORD.findall(command)]


def _unquoted(word: str) -> str:
    if not word.startswith("$"):
        return re.sub(r"""'([^']*)'|"(')\"""", lambda match: match[1] or match[2] or "", word)
    escapes = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
    text = escapes.sub(lambda e: bytes([int(e[1], 8)]) if len(e[1]) == 3 else e[1], word[2:-1].encode())
    return text.decode()


def with_theme(figure: Figure, style: Style) -> Style:
    """Return the style with the theme that the figure will be drawn in; None stands for light."""
    theme = style.theme or figure.theme
    return Style.from_dict({**style.as_dict(), "theme": None if theme == "light" else theme})


def _is_irreproducible(provenance: Mapping[str, Any]) -> bool:
    """Return whether no text reproduces one of the translations, or no option tells B from A."""
    other = provenance.get("other")
    return "branch" in provenance or bool(other and ("branch" in other or not any(_other_options(provenance))))


def _sentence_options(provenance: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "checkpoint", provenance["checkpoint"]
    yield "text", provenance["source"]
    if provenance.get("target_given"):
        yield "target", provenance["translation"]
    for name in ("beam", "alpha", "prefix"):
        if name in provenance:
            yield name, provenance[name]
    if provenance.get("split") is False:
        yield "split", "false"


def _other_options(provenance: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    other = provenance.get("other")
    if not other:
        return
    if other["checkpoint"] != provenance["checkpoint"]:
        yield "other_checkpoint", other["checkpoint"]
    if other["source"] != provenance["source"]:
        yield "other_text", other["source"]
    if other.get("target_given"):
        yield "other_target", other["translation"]


def _view_options(view: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "view", view["name"]
    known = declared(FigureOptions)
    place = [name for name in ("kind", "layer", "head") if name in view] if {"kind", "layer"} <= view.keys() else []
    if place:  # the address of a head or a layer, such as cross.6.8
        yield place[-1], ".".join(str(known[name].form.argument(view[name])) for name in place)
    for name, value in view.items():
        if name == "names":
            yield from ((option, text) for option, text in zip(("name", "other_name"), value, strict=True) if text)
        elif name not in ("name", *place) and not (name == "unit" and value == "tokens"):
            yield name, known[name].form.argument(value) if name in known else value


def _style_options(style: Style) -> Iterator[tuple[str, Any]]:
    return ((name, declared(Style)[name].form.argument(value)) for name, value in style.as_dict().items())
