"""Set of figures of one sentence: one head, all heads of the three kinds, flow, search, a parser's tree, numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

from viz_app.components.explorer.selection import Selection
from viz_app.export import BUNDLE_FORMATS, BundleItem, bundle
from viz_app.export.bundle import Turn
from viz_app.export.command import DATA_FORMATS, command_for_set
from viz_app.export.figure_request import ForwardResult, render
from viz_app.figure_editor.collection import MAX_WEIGHTS, weights_in
from viz_app.figures import FigureOptions
from viz_app.text import texts

TEXT = ("csv", "json")  # of hundreds of maps many times the size of an .npz
SET, FILE_NAME = "sentence", "headlight_sentence.zip"


def sentence_items(
    seen: ForwardResult, head: FigureOptions, item: Callable[..., BundleItem] = BundleItem
) -> list[BundleItem]:
    """Return the figures of a sentence.

    Args:
        seen: The translation.
        head: The head that comes first; all figures have its unit and language.
        item: Makes an item of each figure, with its style and formats. The maps of all heads have no numbers as text,
            and none in a very long sentence, which has no flow either.
    """
    kinds = [FigureOptions(view="heads", kind=kind, unit=head.unit, language=head.language) for kind in seen.maps.kinds]
    whole = [item(figure=render(each, seen)) for each in kinds]
    fits = sum(weights_in(each.figure) for each in whole) <= MAX_WEIGHTS
    there = (("flow", seen.flows if fits else None), ("beam", seen.search), ("tree", seen.parse))
    further = [FigureOptions(view=view, language=head.language) for view, material in there if material is not None]
    first, *alone = [item(figure=render(each, seen)) for each in (head, *further)]
    some = [format for format in first.formats or BUNDLE_FORMATS if format not in (TEXT if fits else DATA_FORMATS)]
    notes = [] if fits else [texts(head.language)("export.without_numbers", limit=f"{MAX_WEIGHTS:,}")]
    return [first, *(replace(each, formats=some, notes=notes) for each in whole), *alone]


def sentence_index(first: BundleItem) -> tuple[str, list[str]]:
    """Return the title of the index, and the lines below: the command that makes the zip again."""
    figure = first.figure
    command = command_for_set(SET, figure.provenance, first.style, FILE_NAME, formats=first.formats)
    t = texts(figure.language)
    about = [t("export.about_sentence", command=command)] if command else []
    return t("export.sentence_title", sentence=figure.provenance["source"]), about


def sentence_bundle(seen: ForwardResult, selection: Selection, language: str, turn: Turn = nullcontext) -> bytes:
    """Return the zip; the same arguments give the same bytes, and its index has the command that makes it again.

    Args:
        seen: The translation.
        selection: The first head, and whether subwords are merged to words.
        language: "en" or "ko", of captions and index.
        turn: Entered for each drawing.
    """
    items = sentence_items(seen, head_options(selection, seen, language))
    title, about = sentence_index(items[0])
    return bundle(items, title=title, language=language, about=about, turn=turn)


def head_options(selection: Selection, seen: ForwardResult, language: str) -> FigureOptions:
    """Return the options of a selected head, as far as the maps have it."""
    place = selection.fitted(seen.maps)
    return FigureOptions(kind=place.kind, layer=place.layer, head=place.head, unit=place.unit, language=language)
