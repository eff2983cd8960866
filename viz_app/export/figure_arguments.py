"""The options of `python -m viz_app export`, from text to a request and a style; each error is one line."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer_core.atlas.measures import NAMES as MEASURES
from transformer_core.attention_maps import KINDS
from transformer_core.cli.arguments import Parser, UsageError, check_at_least, existing
from transformer_core.config import DecodingConfig
from transformer_core.renamed import KEYS
from transformer_core.storage.bundled_models import find_checkpoint
from viz_app.export.command import DPI_FORMATS, FROM_ONE
from viz_app.export.figure_request import FigureRequest, Sentence
from viz_app.figures import FORMATS, VIEWS, Style
from viz_app.figures.build.atlas import GROUPS, SCORES
from viz_app.figures.build.heads import UNITS
from viz_app.figures.model.style import MAPPINGS, PRESETS, ROTATIONS, SCALES
from viz_app.text import LANGUAGES

# Option of each parameter of a view; `other` has three.
_OPTIONS = {
    "other": ("other_text", "other_target", "other_checkpoint"),
    "names": ("name", "other_name"),
    "search": (),
    "parse": (),
    "atlas": (),
}


def add_sentence(parser: Parser) -> None:
    """Options on the sentence, and how it is translated."""
    parser.add_checkpoint()
    parser.add_argument("--text", type=str, metavar="TEXT", help="The sentence to read.")
    parser.add_argument(
        "--target", type=str, metavar="TEXT", help="Read this translation instead of searching for one."
    )
    parser.add_search(("beam", "alpha"))
    parser.add_argument(
        "--split",
        type=bool,
        default=True,
        metavar="true|false",
        help="parser: split the text into words first; false: blanks stand between them already.",
    )


def add_view(parser: Parser) -> None:
    """Options on what is shown. Layers, heads, queries and steps count from 1."""
    add = parser.add_argument
    add("--view", type=str, default="head", metavar="NAME", help=f"{', '.join(VIEWS)}.")
    add("--kind", type=str, metavar="KIND", help=f"{', '.join(KINDS)}; cross unless given.")
    add("--layer", type=int, metavar="N", help="Layer, from 1.")
    add("--head", type=int, metavar="N", help="Head, from 1.")
    add("--heads", type=str, metavar="LIST", help="Several heads of the layer, for lines: 1,3; more with --texts.")
    add("--query", type=int, metavar="N", help="Draw only the lines of this token, from 1.")
    add("--unit", type=str, metavar="UNIT", help="tokens (subwords), or words to merge the subwords of a word.")
    add("--step", type=int, metavar="N", help="Show only what exists after N generated tokens.")
    add("--steps", type=str, metavar="LIST", help="The steps of the view steps: 1,4,8; four unless given.")
    add("--pruned", type=bool, metavar="true|false", help="Whether the beam tree shows discarded candidates.")
    add("--confidence", type=bool, metavar="true|false", help="tree: tint constituents by their probability.")
    add("--measure", type=str, metavar="NAME", help=f"grid: {', '.join(MEASURES)}; the first unless given.")
    add("--group", type=str, metavar="NAME", help="pruning: which heads go: all, encoder, decoder, cross.")
    add("--score", type=str, metavar="NAME", help=f"pruning: {', '.join(SCORES)}.")
    add("--left", type=int, metavar="N", help="pruning: read the curves where N heads are left.")
    add("--other-text", type=str, metavar="TEXT", help="compare: sentence of B.")
    add("--other-target", type=str, metavar="TEXT", help="compare: translation that B reads.")
    add("--other-checkpoint", type=find_checkpoint, metavar="DIR", help="compare: model of B.")
    add("--other-kind", type=str, metavar="KIND", help="compare: kind of B.")
    add("--other-layer", type=int, metavar="N", help="compare: layer of B.")
    add("--other-head", type=int, metavar="N", help="compare: head of B.")
    add("--name", type=str, metavar="TEXT", help="compare: what A is called.")
    add("--other-name", type=str, metavar="TEXT", help="compare: what B is called.")
    add("--aligned", type=bool, metavar="true|false", help="compare: B - A over the tokens both sentences share.")
    add(
        "--language",
        type=str,
        default="en",
        metavar="CODE",
        help=f"Language of titles and captions: {', '.join(LANGUAGES)}.",
    )


def add_style(parser: Parser) -> None:
    """Options on how it is drawn, all fields of `Style`."""
    add = parser.add_argument
    add("--preset", type=str, metavar="NAME", help=f"Preset for a venue: {', '.join(PRESETS)}.")
    add("--width-mm", type=float, metavar="MM", help="Width, 20 to 2000.")
    add("--height-mm", type=float, metavar="MM", help="Height, 15 to 2000; the figure fits into both.")
    add("--font-pt", type=float, metavar="PT", help="Size of titles, 3 to 48; labels are at most as large.")
    add("--scale", type=str, metavar="NAME", help=f"Colours: {', '.join(SCALES)}.")
    add("--value-range", type=str, metavar="LOW,HIGH", help="Weights at the ends of the scale, or shared.")
    add("--mapping", type=str, metavar="NAME", help=f"{', '.join(MAPPINGS)}; sqrt tells small weights apart.")
    add(
        "--rotation", type=str, metavar="DEGREES", help=f"Rotation of the key labels: {', '.join(map(str, ROTATIONS))}."
    )
    add("--title", type=bool, metavar="true|false", help="Whether the heading is drawn; true unless given.")
    add("--caption", type=bool, metavar="true|false", help="Whether the caption is drawn; false unless given.")
    add("--legend", type=bool, metavar="true|false", help="Whether the colour bar is drawn; true unless given.")
    add("--letters", type=bool, metavar="true|false", help="Whether panels are lettered; false unless given.")
    add("--theme", type=str, metavar="NAME", help="light or dark.")
    add("--dpi", type=int, metavar="N", help="Dots per inch of PNG (300) and GIF (150), 36 to 1200.")


def style_from_options(options: argparse.Namespace) -> Style:
    """The style. Raises UsageError that names the option."""
    given = {name: getattr(options, name) for name in Style.__dataclass_fields__ if getattr(options, name) is not None}
    if given.get("theme") == "light":  # light is the default, so it is left out
        del given["theme"]
    if "value_range" in given and given["value_range"] != "shared":
        given["value_range"] = _numbers("--value-range", given["value_range"], float, "as 0,0.5, or shared")
    if given.get("rotation", "auto") != "auto":
        given["rotation"] = _numbers("--rotation", given["rotation"], int, "auto, 0, 45 or 90")[0]
    try:
        return Style(**given)
    except ValueError as error:
        name, _, rest = str(error).partition(" ")
        raise UsageError(f"--{name.replace('_', '-')} {rest}") from error


def sentence_from_options(options: argparse.Namespace, text: str) -> Sentence:
    """The sentence of A. Raises UsageError."""
    target = options.target
    if target is not None:
        validate_text("--target", target)
        if options.beam is not None or options.alpha is not None:
            raise UsageError("--beam and --alpha set the search; omit them with --target")
    changes = {name: getattr(options, name) for name in ("beam", "alpha") if getattr(options, name) is not None}
    DecodingConfig(**changes)
    return Sentence(checkpoint=options.checkpoint, text=text, target=target, split=options.split, **changes)


def request_from_options(options: argparse.Namespace) -> FigureRequest:
    """The request of the options. Raises UsageError for an option that is missing, unusable or not of this view."""
    view, parameters = view_from_options(options)
    language = validate_choice("--language", options.language, LANGUAGES)
    if VIEWS[view].of_atlas:
        given = [each for each in ("text", "target", "beam", "alpha") if getattr(options, each) is not None]
        if given:
            raise UsageError(f"{_flag(given[0])}: the view {view} shows the model's head atlas; omit the sentence")
        sentence = Sentence(checkpoint=options.checkpoint, text="")
        return FigureRequest(sentence=sentence, view=view, parameters=parameters, language=language)
    if options.text is None:
        raise UsageError("missing: --text (a sentence), or --texts (a file with one sentence per line)")
    sentence = sentence_from_options(options, validate_text("--text", options.text))
    if view == "beam" and sentence.target is not None:
        raise UsageError("--target: the view beam draws a search; omit the translation")
    other = _other(options, sentence)
    if other and other.checkpoint != sentence.checkpoint and "names" not in parameters:
        parameters["names"] = (Path(sentence.checkpoint).resolve().name, Path(other.checkpoint).resolve().name)
    return FigureRequest(
        sentence=sentence,
        view=view,
        parameters=parameters,
        other=other,
        language=language,
    )


def view_from_options(options: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """A view and its parameters, counted from 0."""
    name = validate_choice("--view", options.view, VIEWS)
    if name == "heads" and options.layer is not None:  # all heads, of a layer, or one: the same wish, narrower
        name = "layer" if options.head is None else "head"
    allowed = VIEWS[name].parameters
    for parameter in {parameter for view in VIEWS.values() for parameter in view.parameters} - set(allowed):
        for option in _OPTIONS.get(parameter, (parameter,)):
            if getattr(options, option) is not None:
                flags = [_flag(o) for p in allowed for o in _OPTIONS.get(p, (p,))]
                raise UsageError(f"{_flag(option)}: the view {name} does not take it; it takes {', '.join(flags)}")
    missing = [each for each in VIEWS[name].required if getattr(options, each) is None]
    if name == "lines" and options.head is None and options.heads is None:
        missing.append("head")
    if missing:
        raise UsageError(f"missing: {', '.join(map(_flag, missing))}, for the view {name}")
    return name, _parameters(options, allowed)


def _parameters(options: argparse.Namespace, allowed: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in allowed:
        value = getattr(options, name, None) if name not in _OPTIONS else None
        if value is None:
            continue
        flag = _flag(name)
        if name in ("kind", "other_kind"):
            validate_choice(flag, value, KINDS)
        elif name == "unit":
            value = KEYS.get(value, value)
            validate_choice(flag, value, UNITS)
        elif name in ("heads", "steps"):
            value = _numbers(flag, value, int, "numbers from 1 on, as 1,3")
            if min(value) < 1 or list(value) != sorted(set(value)):
                raise UsageError(
                    f"{flag} is {getattr(options, name)!r}, but must be increasing numbers from 1, such as 1,3"
                )
            value = tuple(number - 1 for number in value) if name == "heads" else value
        elif name == "measure":
            validate_choice(flag, value, MEASURES)
        elif name == "group":
            validate_choice(flag, value, GROUPS)
        elif name == "score":
            validate_choice(flag, value, SCORES)
        elif name == "left":
            check_at_least(flag, value, 0)
        elif name in (*FROM_ONE, "step"):
            check_at_least(flag, value, 1)
            value = value - 1 if name in FROM_ONE else value
        found[name] = value
    if "names" in allowed and (options.name or options.other_name):
        found["names"] = (options.name or "", options.other_name or "")
    if "heads" in found:
        if options.head is not None:
            raise UsageError("--heads and --head are the same option; give only one")
        found["head"] = found["heads"][0]
    return found


def _other(options: argparse.Namespace, sentence: Sentence) -> Sentence | None:
    """Sentence of B; None when it is that of A."""
    if all(getattr(options, name) is None for name in _OPTIONS["other"]):
        return None
    text, target = options.other_text, options.other_target
    if options.other_checkpoint is not None:
        existing("--other-checkpoint", options.other_checkpoint, folder=True)
    if target is None and text is None:  # the same sentence in another model, with the same translation if one is given
        target = sentence.target
    return Sentence(
        checkpoint=options.other_checkpoint or sentence.checkpoint,
        text=sentence.text if text is None else validate_text("--other-text", text),
        target=None if target is None else validate_text("--other-target", target),
        beam=None if target is not None else sentence.beam,
        alpha=None if target is not None else sentence.alpha,
        split=sentence.split,
    )


def check_dpi(options: argparse.Namespace, formats: tuple[str, ...]) -> None:
    """Raise UsageError for a resolution that is not allowed or that no file has."""
    if options.dpi is None:
        return
    if not 36 <= options.dpi <= 1200:
        raise UsageError(f"--dpi is {options.dpi}, but must be between 36 and 1200")
    if not set(formats) & set(DPI_FORMATS):
        raise UsageError(f"--dpi: only {' and '.join(DPI_FORMATS)} have a resolution")


def format_from_suffix(option: str, name: str) -> str:
    """The format that the ending of a file's name says. Raises UsageError for another."""
    ending = Path(name).suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise UsageError(f"{option} is {name!r}, but must end with one of {', '.join('.' + each for each in FORMATS)}")
    return ending


def add_targets(parser: Parser) -> None:
    """The files to write, and when not to; `parse_targets` reads them."""
    parser.add_argument(
        "--out", type=str, required=True, action="append", metavar="FILE", help="File to write; may be given again."
    )
    parser.add_argument("--force", action="store_true", help="Replace existing files.")
    parser.add_argument("--strict", action="store_true", help="Fail on any warning and write nothing.")


def parse_targets(options: argparse.Namespace) -> dict[Path, str]:
    """The files to write with their formats. Raises UsageError for one that cannot or must not be written."""
    targets: dict[Path, str] = {}
    for name in options.out:
        out, format = Path(name), format_from_suffix("--out", name)
        if out in targets:
            raise UsageError(f"--out: {out} is named twice")
        beside = [out, out.with_name(f"{out.name}.json")] if format == "csv" else [out]
        for path in beside:
            if path.exists() and (path.is_dir() or not options.force):
                raise UsageError(f"--out: {path} already exists; add --force to replace it, or name another file")
        if not out.parent.is_dir():
            raise UsageError(f"--out: there is no folder {out.parent}")
        targets[out] = format
    return targets


def validate_text(option: str, given: str) -> str:
    """The text of an argument. Raises UsageError when it is empty or no Unicode."""
    try:
        given.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"{option} is not UTF-8 text") from error
    if not given.strip():
        raise UsageError(f"{option} is empty, but must be a sentence")
    return given


def validate_choice(option: str, value: str, allowed: tuple[str, ...] | Mapping[str, Any]) -> str:
    """The value. Raises UsageError when it is not allowed."""
    if value not in allowed:
        raise UsageError(f"{option} is {value!r}, but must be one of {', '.join(allowed)}")
    return value


def _numbers(option: str, text: str, number: type, form: str) -> tuple[Any, ...]:
    try:
        return tuple(number(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"{option} is {text!r}, but must be {form}") from error


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
