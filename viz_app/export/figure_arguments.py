"""Options of `python -m viz_app export`: from text to what a figure shows and its style; each error is one line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from transformer_core.attention_maps import KINDS, Kind
from transformer_core.cli.arguments import Parser, UsageError, check_new_file, output_path, sentence_text
from transformer_core.config import DecodingConfig
from transformer_core.storage.bundled_models import find_checkpoint
from viz_app.export.command import DPI_FORMATS
from viz_app.export.figure_request import Sentence
from viz_app.figures import FORMATS, VIEWS, FigureOptions, Style
from viz_app.figures.option import declared, flag
from viz_app.text import LANGUAGES

_ADDRESS = re.compile(rf"({'|'.join(KINDS)})(\.[1-9]\d{{0,3}}){{1,2}}", re.ASCII)
_SEARCH = ("beam", "alpha", "prefix")
# Option of each parameter of a view; `other` has three.
_OPTIONS = {
    "other": ("other_text", "other_target", "other_checkpoint"),
    "names": ("name", "other_name"),
    "search": (),
    "parse": (),
    "flows": (),
    "atlas": (),
}


def add_sentence(parser: Parser) -> None:
    """Add the options of the sentence and its translation."""
    finder = "the command of a figure's file? `reproduce FILE --checkpoint DIR` finds its model by the hash in the file"
    parser.add_checkpoint(hint=finder)
    add = parser.add_argument
    add("--text", type=sentence_text, metavar="TEXT", help="The sentence to read.")
    add("--target", type=sentence_text, metavar="TEXT", help="Read this translation instead of searching for one.")
    parser.add_search(("beam", "alpha"))
    add("--prefix", type=str, metavar="TOKENS", help="Begin the translation with these tokens, a space between.")
    about = "parser: split the text into words first; false: blanks stand between them already."
    add("--split", type=bool, default=True, metavar="true|false", help=about)


def add_view(parser: Parser) -> None:
    """Add the options of the view. Layers, heads, queries and steps count from 1."""
    add = parser.add_argument
    add("--view", type=str, default="head", metavar="NAME", help=f"{', '.join(VIEWS)}.")
    _add_declared(parser, FigureOptions)
    add("--other-text", type=sentence_text, metavar="TEXT", help="compare: sentence of B.")
    add("--other-target", type=sentence_text, metavar="TEXT", help="compare: translation that B reads.")
    parser.add_path("--other-checkpoint", "compare: model of B.", form="DIR", read=find_checkpoint)
    add("--name", type=str, metavar="TEXT", help="compare: what A is called.")
    add("--other-name", type=str, metavar="TEXT", help="compare: what B is called.")
    add_language(parser)


def add_language(parser: Parser) -> None:
    """Add the option of the language of a figure."""
    parser.add_choice("--language", LANGUAGES, "Language of titles and captions.", default="en", form="CODE")


def add_style(parser: Parser) -> None:
    """Add the options of the style, all fields of `Style`."""
    _add_declared(parser, Style)
    parser.add_argument("--dpi", type=int, metavar="N", help="Dots per inch of PNG (300) and GIF (150), 36 to 1200.")


def _add_declared(parser: Parser, kind: type) -> None:
    for name, each in declared(kind).items():
        known = {"type": each.form.type, "metavar": each.metavar or each.form.metavar}
        if name.endswith(("head", "layer")):
            known = {"type": _number_or_address, "metavar": "HEAD" if name.endswith("head") else "LAYER"}
        parser.add_argument(each.flag, help=each.about, **known)  # type: ignore[arg-type]


def _number_or_address(text: str) -> int | str:
    if _ADDRESS.fullmatch(text):
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"is {text!r}, but must be an address such as cross.4.6") from None


def _spread_addresses(options: argparse.Namespace) -> None:
    """Set kind, layer and head from `--head cross.4.6` or `--layer cross.4`. Raises UsageError for a contradiction."""
    for of, last in product(("", "other_"), ("layer", "head")):
        address = getattr(options, f"{of}{last}")
        if not isinstance(address, str):
            continue
        names, parts = ("kind", "layer", "head"), address.split(".")
        if len(parts) != names.index(last) + 1:
            example = "cross.4.6" if last == "head" else "cross.4"
            raise UsageError(f"{flag(of + last)} is {address!r}, but must be an address such as {example}")
        for name, part in zip(names, parts, strict=False):
            if name != last and getattr(options, of + name) is not None:
                raise UsageError(f"{flag(of + name)}: {flag(of + last)} {address} says it already")
            if of + name != "kind" or part != "cross":  # the default; the view tree has no other
                setattr(options, of + name, part if name == "kind" else int(part))


def _given(options: argparse.Namespace, kind: type) -> dict[str, Any]:
    """Return the declared options that are given, by name. Raises UsageError for a value that is not allowed."""
    arguments: dict[str, Any] = {}
    for name, each in declared(kind).items():
        value = getattr(options, name)
        if value is not None:
            try:
                arguments[name] = each.form.parse(value)
                each.form.check(arguments[name])
            except ValueError as error:
                raise UsageError(f"{each.flag} {error}") from error
    return arguments


def style_from_options(options: argparse.Namespace) -> Style:
    """Return the style. Raises UsageError that names the option."""
    arguments = _given(options, Style)
    if arguments.get("theme") == "light":  # light is the default, so it is left out
        del arguments["theme"]
    return Style(**arguments)


def sentence_from_options(options: argparse.Namespace, text: str) -> Sentence:
    """Return the sentence of A. Raises UsageError."""
    target = options.target
    changes = {name: getattr(options, name) for name in _SEARCH if getattr(options, name) is not None}
    if target is not None and changes:
        raise UsageError("--beam, --alpha and --prefix set the search; omit them with --target")
    DecodingConfig(**{name: value for name, value in changes.items() if name != "prefix"})
    return Sentence(checkpoint=options.checkpoint, text=text, target=target, split=options.split, **changes)


class FigureRequest(NamedTuple):
    """A figure that a command line asks for; `other` is the sentence of B of a comparison."""

    options: FigureOptions
    sentence: Sentence
    other: Sentence | None = None


def figure_from_options(options: argparse.Namespace) -> FigureRequest:
    """Return the figure. Raises UsageError for an option that is missing, unusable or not of this view."""
    figure = view_from_options(options)
    view = figure.view
    if VIEWS[view].of_atlas:
        superfluous = [each for each in ("text", "target", *_SEARCH) if getattr(options, each) is not None]
        if superfluous:
            raise UsageError(f"{flag(superfluous[0])}: the view {view} shows the model's head atlas; omit the sentence")
        return FigureRequest(figure, Sentence(checkpoint=options.checkpoint, text=""))
    if options.text is None:
        raise UsageError("missing: --text (a sentence), or --texts (a file with one sentence per line)")
    sentence = sentence_from_options(options, options.text)
    if view == "beam" and sentence.target is not None:
        raise UsageError("--target: the view beam draws a search; omit the translation")
    other = _other(options, sentence)
    if other and other.checkpoint != sentence.checkpoint and not any(figure.names):
        names = (Path(sentence.checkpoint).resolve().name, Path(other.checkpoint).resolve().name)
        figure = replace(figure, names=names)
    return FigureRequest(figure, sentence, other)


def view_from_options(options: argparse.Namespace) -> FigureOptions:
    """Return the view and its options, with heads and layers by their places. Raises UsageError."""
    _spread_addresses(options)
    name = validate_choice("--view", options.view, VIEWS)
    if name == "heads" and options.layer is not None:  # all heads, of a layer, or one: the same wish, narrower
        name = "layer" if options.head is None else "head"
    allowed = VIEWS[name].parameters
    for parameter in {parameter for view in VIEWS.values() for parameter in view.parameters} - set(allowed):
        for option in _OPTIONS.get(parameter, (parameter,)):
            if getattr(options, option) is not None:
                flags = [flag(o) for p in allowed for o in _OPTIONS.get(p, (p,))]
                raise UsageError(f"{flag(option)}: the view {name} does not take it; it takes {', '.join(flags)}")
    missing = [each for each in VIEWS[name].required if getattr(options, each) is None]
    if name == "lines" and options.head is None and options.heads is None:
        missing.append("head")
    if missing:
        raise UsageError(f"missing: {', '.join(map(flag, missing))}, for the view {name}")
    arguments = _given(options, FigureOptions)
    if "heads" in arguments:
        if options.head is not None:
            raise UsageError("--heads and --head are the same option; give only one")
        arguments["head"] = arguments["heads"][0]
    names = (options.name or "", options.other_name or "")
    return FigureOptions(view=name, language=options.language, names=names, **arguments)


def _other(options: argparse.Namespace, sentence: Sentence) -> Sentence | None:
    """Return the sentence of B; None when it is the sentence of A."""
    if all(getattr(options, name) is None for name in _OPTIONS["other"]):
        return None
    text, target = options.other_text, options.other_target
    if target is None and text is None:  # the same sentence in another model, with the same translation if one is given
        target = sentence.target
    return Sentence(
        checkpoint=options.other_checkpoint or sentence.checkpoint,
        text=sentence.text if text is None else text,
        target=target,
        beam=None if target is not None else sentence.beam,
        alpha=None if target is not None else sentence.alpha,
        prefix=sentence.prefix if target is None and text is None else "",
        split=sentence.split,
    )


def parse_heads(text: str, layers: int, heads: int) -> list[tuple[Kind, int, int]]:
    """Return the heads of a list such as `cross.4.6,encoder.2`, from 0. Raises UsageError for a wrong one."""
    places = product(KINDS, range(layers), range(heads))
    every = {f"{kind}.{layer + 1}.{head + 1}": (kind, layer, head) for kind, layer, head in places}
    unique = dict[tuple[Kind, int, int], None]()
    for part in text.split(","):
        named = [place for name, place in every.items() if part == "all" or f"{name}.".startswith(f"{part}.")]
        if not named:
            raise UsageError(
                f"--heads: {part!r} must be kind.layer.head, kind.layer, kind, or all; a kind is {', '.join(KINDS)}, "
                f"a layer from 1 to {layers}, a head from 1 to {heads}"
            )
        unique |= dict.fromkeys(named)
    return list(unique)


def check_dpi(options: argparse.Namespace, formats: tuple[str, ...]) -> None:
    """Raise UsageError for a resolution that is not allowed or that no file has."""
    if options.dpi is None:
        return
    if not 36 <= options.dpi <= 1200:
        raise UsageError(f"--dpi is {options.dpi}, but must be between 36 and 1200")
    if not set(formats) & set(DPI_FORMATS):
        raise UsageError(f"--dpi: only {' and '.join(DPI_FORMATS)} have a resolution")


def format_from_suffix(option: str, name: str) -> str:
    """Return the format that the ending of a file's name says. Raises UsageError for another."""
    ending = Path(name).suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise UsageError(f"{option} is {name!r}, but must end with one of {', '.join('.' + each for each in FORMATS)}")
    return ending


def add_targets(parser: Parser) -> None:
    """Add the options of the files to write; `parse_targets` reads them."""
    parser.add_argument(
        "--out", type=str, required=True, action="append", metavar="FILE", help="File to write; may be given again."
    )
    parser.add_argument("--force", action="store_true", help="Replace existing files.")
    parser.add_argument("--strict", action="store_true", help="Fail on any warning and write nothing.")


def parse_targets(options: argparse.Namespace) -> dict[Path, str]:
    """Return the files to write with their formats. Raises UsageError for one that cannot or must not be written."""
    targets: dict[Path, str] = {}
    for name in options.out:
        out, format = output_path(name), format_from_suffix("--out", name)
        if out in targets:
            raise UsageError(f"--out: {out} is named twice")
        beside = [out, out.with_name(f"{out.name}.json")] if format == "csv" else [out]
        for path in beside:
            check_new_file("--out", path, options.force)
        targets[out] = format
    return targets


def validate_choice(option: str, value: str, allowed: tuple[str, ...] | Mapping[str, Any]) -> str:
    """Return the value. Raises UsageError when it is not allowed."""
    if value not in allowed:
        raise UsageError(f"{option} is {value!r}, but must be one of {', '.join(allowed)}")
    return value
