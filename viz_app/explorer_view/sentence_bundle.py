"""Zip of one sentence: all heads of the three kinds, one head, search, a parser's tree, numbers."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from viz_app.components.explorer.selection import Selection
from viz_app.export import BundleItem, bundle
from viz_app.export.bundle import Turn
from viz_app.export.command import command_for_sentence
from viz_app.export.figure_request import ForwardResult, render
from viz_app.figure_editor.collection import MAX_WEIGHTS, weights_in
from viz_app.figures import Figure, FigureOptions
from viz_app.text import texts

DRAWN = ("pdf", "svg", "png")
NUMBERS = ("csv", "npz", "json")
NUMBERS_OF_ALL = ("npz",)  # of hundreds of maps, as text many times the size
FILE_NAME = "headlight_sentence.zip"


def sentence_bundle(seen: ForwardResult, selection: Selection, language: str, turn: Turn = nullcontext) -> bytes:
    """Return the zip; the same arguments give the same bytes, and its index has the command that makes it again.

    Args:
        seen: The translation.
        selection: The first head, and whether subwords are merged to words.
        language: "en" or "ko", of captions and index.
        turn: Entered for each drawing.
    """
    t, place = texts(language), selection.fitted(seen.maps)
    unit: dict[str, Any] = {"unit": place.unit}
    head = {"kind": place.kind, "layer": place.layer, "head": place.head}
    alone = [_figure("head", head | unit, seen, language)]
    if seen.search is not None:
        alone.append(_figure("beam", {}, seen, language))
    if seen.parse is not None:
        alone.append(_figure("tree", {}, seen, language))
    everything = [_figure("heads", {"kind": kind} | unit, seen, language) for kind in seen.maps.kinds]
    fits = sum(map(weights_in, everything)) <= MAX_WEIGHTS
    items = [BundleItem(figure=figure, formats=(*DRAWN, *NUMBERS)) for figure in alone]
    items[1:1] = [
        BundleItem(figure=figure, formats=(*DRAWN, *NUMBERS_OF_ALL) if fits else DRAWN) for figure in everything
    ]
    name = f"{place.kind}.{place.layer + 1}.{place.head + 1}"
    command = command_for_sentence(seen.provenance, head=name, unit=place.unit, language=language, out=FILE_NAME)
    about = [t("export.about_sentence", command=command)] if command else []
    if not fits:
        about.append(t("export.without_numbers", limit=f"{MAX_WEIGHTS:,}"))
    title = t("export.sentence_title", sentence=seen.provenance["source"])
    return bundle(items, (*DRAWN, *NUMBERS), title=title, language=language, about=about, turn=turn)


def _figure(view: str, parameters: dict[str, Any], seen: ForwardResult, language: str) -> Figure:
    return render(FigureOptions(view=view, language=language, **parameters), seen)
