"""A set of figures in all their formats, with an index: as one zip, or as a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from transformer_core import __version__
from viz_app.export.command import DATA_FORMATS, DPI_FORMATS, with_theme
from viz_app.export.index_page import Card, Part, index_page
from viz_app.export.packing import INDEX, PROGRAM, Place, Zip
from viz_app.export.pictures import preview, thumbnail
from viz_app.export.recorded import export_files, with_command
from viz_app.figures import FORMATS, RENDERERS, Figure, Style, file_stem, formats_of
from viz_app.figures.model.pixels import PictureTooLarge
from viz_app.text import texts

Turn = Callable[[], AbstractContextManager[None]]

BUNDLE_FORMATS = ("pdf", "svg", "png", "csv", "npz", "json")
PAGE = "index.html"
INDEX_FORMAT = 1
_HASH = 12  # characters of a checkpoint's hash on the page; index.json has all


@dataclass(frozen=True, kw_only=True)
class BundleItem:
    """Figure to be packed, as it will be drawn.

    Args:
        figure: The figure.
        style: How it is drawn.
        dpi: Dots per inch of PNG and GIF; None for the default of each.
        dpi_formats: Which formats have this resolution; the others keep their default.
        formats: Its own formats; None for the formats of the bundle.
        name: Name of its files without their endings; empty for the figure's own.
        notes: Further lines of the index, such as warnings.
    """

    figure: Figure
    style: Style = field(default_factory=Style)
    dpi: int | None = None
    dpi_formats: Sequence[str] = DPI_FORMATS
    formats: Sequence[str] | None = None
    name: str = ""
    notes: Sequence[str] = ()

    def dpi_for(self, format: str) -> int | None:
        """Resolution of one format; None for its default."""
        return self.dpi if format in self.dpi_formats else None

    def record(self, format: str) -> dict[str, Any]:
        """Provenance of the file of one format, with its command."""
        recorded = with_command(self.figure, format, self.style, dpi=self.dpi_for(format))
        return {"version": __version__, **recorded.provenance}


def bundle(
    items: Sequence[BundleItem],
    formats: Sequence[str] = BUNDLE_FORMATS,
    *,
    title: str = PROGRAM,
    language: str = "en",
    about: Sequence[str] = (),
    turn: Turn = nullcontext,
) -> bytes:
    """Return a set as a zip, see `pack`; the same arguments give the same bytes.

    Raises:
        ValueError: A format does not exist, or there is no figure or format.
    """
    if unknown := [format for format in formats if format not in FORMATS]:
        raise ValueError(f"format is {unknown[0]!r}, but must be one of {', '.join(FORMATS)}")
    if not items or not formats:
        raise ValueError("a bundle needs at least one figure and one format")
    archive = Zip()
    pack(items, archive, formats, title=title, language=language, about=about, turn=turn)
    return archive.data()


def pack(
    items: Iterable[BundleItem],
    place: Place,
    formats: Sequence[str],
    *,
    title: str,
    language: str,
    about: Sequence[str] = (),
    turn: Turn = nullcontext,
    thumbnails: bool = False,
) -> int:
    """Write figures into a folder for each format, `index.html` for people and `index.json` for programs.

    Args:
        items: The figures, written as they come.
        place: Where they go.
        formats: Formats of each figure; one that a figure does not have, or in which it would have too many pixels,
            is left out there, but an animation that has none of the drawn ones comes as GIF.
        title: Heading of the index.
        language: Language of the index.
        about: Further lines below its heading, plain text; read after the last figure.
        turn: Entered for each drawing, so that others can draw between two of them.
        thumbnails: Whether the index shows maps with a pixel for each weight, as for thousands of figures.

    Returns:
        The number of figures.
    """
    cards: dict[str, list[Card]] = {}  # by what is read
    entries: list[dict[str, Any]] = []
    names: set[str] = set()
    for item in items:
        name, files = _free_name(item, names), []
        # Packed as they are made: the numbers of large figures as text are tens of megabytes.
        for file, format, data in _files(name, item, item.formats or formats, place, turn):
            digest = hashlib.sha256(data).hexdigest()
            files.append({"file": file, "sha256": digest, "command": item.record(format).get("command", "")})
        entries.append(_index_entry(item, files))
        with turn():
            cards.setdefault(_read(item.figure), []).append(_card(name, item, files, thumbnails))
    parts = [Part(title=read, cards=of_sentence) for read, of_sentence in cards.items()]
    lines = [texts(language)("export.about_bundle", count=len(entries)), *about]
    page = index_page(title, parts, language=language, about=lines, enlarged=thumbnails)
    index = {
        "format": INDEX_FORMAT,
        "program": PROGRAM,
        "version": __version__,
        "title": title,
        "about": list(about),
        "figures": entries,
    }
    place.add(PAGE, page.encode("utf-8", errors="replace"))
    text = json.dumps(index, ensure_ascii=False, indent=1, default=str) + "\n"
    place.add(INDEX, text.encode("utf-8", errors="replace"))
    return len(entries)


def _files(
    name: str, item: BundleItem, formats: Sequence[str], place: Place, turn: Turn
) -> Iterator[tuple[str, str, bytes]]:
    """Write the files of a figure; yields name, format and bytes of each.

    The files carry the figure's own name in their command: a bundle's numbering is no part of a figure.
    """
    available = formats_of(item.figure)
    selection = [format for format in dict.fromkeys(formats) if format in available]
    still = any(not RENDERERS[format].moves and not RENDERERS[format].is_data for format in available)
    films = [format for format in available if RENDERERS[format].moves and not still]
    for format in [*(film for film in films if film not in selection), *selection]:
        endings = [".csv", ".csv.json"] if format == "csv" else [f".{format}"]
        names = [f"{format}/{name}{ending}" for ending in endings]
        ready = place.complete(names, format, item.record(format))
        if not ready:
            try:
                with turn():
                    made = export_files(item.figure, format, item.style, dpi=item.dpi_for(format))
            except PictureTooLarge:  # its other formats have it
                continue
            ready = [made[ending] for ending in endings]
            for file, data in zip(names, ready, strict=True):
                place.add(file, data)
        yield from ((file, format, data) for file, data in zip(names, ready, strict=True))


def _index_entry(item: BundleItem, files: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the entry of a figure in index.json."""
    figure = item.figure
    words = {name: getattr(figure, name) for name in ("title", "caption", "alt", "language")}
    provenance = {name: value for name, value in figure.provenance.items() if name != "command"}
    return {**words, "provenance": provenance, "style": item.style.as_dict(), "dpi": item.dpi, "files": list(files)}


def _read(figure: Figure) -> str:
    """Return the sentence and its translation; empty for a figure of no sentence."""
    return " \u2192 ".join(
        str(figure.provenance[key]) for key in ("source", "translation") if figure.provenance.get(key)
    )


def _card(name: str, item: BundleItem, files: Sequence[Mapping[str, str]], thumbnails: bool) -> Card:
    """Return the card of a figure in index.html."""
    figure, provenance = item.figure, item.figure.provenance
    model = " \u00b7 ".join(
        [str(provenance.get("checkpoint", "")), str(provenance.get("checkpoint_sha256", ""))[:_HASH]]
    )
    # Of a drawing, whose command tells the style too, before that of numbers.
    first = min(files, key=lambda file: file["file"].partition("/")[0] in DATA_FORMATS, default=None)
    return Card(
        files=[file["file"] for file in files],
        png=(thumbnail if thumbnails else preview)(replace(figure, provenance={}), with_theme(figure, item.style)),
        alt=figure.alt,
        title=figure.title or name,
        caption=figure.caption,
        notes=[*item.notes, *([model] if provenance.get("checkpoint") else [])],
        command=first["command"] if first else "",
    )


def _free_name(item: BundleItem, taken: set[str]) -> str:
    """Return a safe name that differs from those that are taken, also without regard to case."""
    stem = item.name or file_stem(item.figure)
    name, number = stem, 2
    while name.lower() in taken:
        name, number = f"{stem}-{number}", number + 1
    taken.add(name.lower())
    return name
