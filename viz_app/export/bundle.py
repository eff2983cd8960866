"""Several figures in all their formats as one zip with an index."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from transformer_core import __version__
from viz_app.export.command import DATA_FORMATS, DPI_FORMATS, command_for, with_theme
from viz_app.export.index_page import Card, Part, index_page
from viz_app.export.pictures import preview
from viz_app.export.recorded import export_files
from viz_app.figures import FORMATS, RENDERERS, Figure, Style, formats_of
from viz_app.figures.model.pixels import PictureTooLarge
from viz_app.text import texts

Turn = Callable[[], AbstractContextManager[None]]

BUNDLE_FORMATS = ("pdf", "svg", "png", "csv", "npz", "json")
INDEX_FORMAT = 1
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip can tell
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
    """

    figure: Figure
    style: Style = field(default_factory=Style)
    dpi: int | None = None
    dpi_formats: Sequence[str] = DPI_FORMATS
    formats: Sequence[str] | None = None

    def dpi_for(self, format: str) -> int | None:
        """Resolution of one format; None for its default."""
        return self.dpi if format in self.dpi_formats else None


def bundle(
    figures: Sequence[Figure | BundleItem],
    formats: Sequence[str] = BUNDLE_FORMATS,
    style: Style | None = None,
    *,
    dpi: int | None = None,
    title: str = "Headlight",
    language: str = "en",
    about: Sequence[str] = (),
    turn: Turn = nullcontext,
) -> bytes:
    """Return a zip of a folder for each format, `index.html` for people and `index.json` for programs.

    Args:
        figures: What to pack; an Item has a style and a resolution of its own.
        formats: Formats of each figure; one that a figure does not have, or in which it would have too many pixels,
            is left out there, but an animation that has none of the drawn ones comes as GIF.
        style: How figures without a style of their own are drawn.
        dpi: Dots per inch of their PNG and GIF.
        title: Heading of the index; plain text.
        language: Language of the index.
        about: Further lines below its heading; plain text.
        turn: Entered for each drawing, so that others can draw between two of them.

    Returns:
        The zip's bytes; the same arguments give the same bytes.

    Raises:
        ValueError: A format does not exist, or there is no figure or format.
    """
    if unknown := [format for format in formats if format not in FORMATS]:
        raise ValueError(f"format is {unknown[0]!r}, but must be one of {', '.join(FORMATS)}")
    if not figures or not formats:
        raise ValueError("a bundle needs at least one figure and one format")
    style = style or Style()
    items = [
        each if isinstance(each, BundleItem) else BundleItem(figure=each, style=style, dpi=dpi) for each in figures
    ]
    cards, entries = [], []
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, item in zip(_names([item.figure for item in items]), items, strict=True):
            files = []
            # Packed as they are made: the numbers of large figures as text are tens of megabytes.
            for file, format, data in _files(name, item, item.formats or formats, turn):
                _add(archive, file, data)
                digest = hashlib.sha256(data).hexdigest()
                files.append({"file": file, "sha256": digest, "command": _command(item, format)})
            entries.append(_index_entry(item, files))
            with turn():
                cards.append(_card(name, item, files))
        about = [texts(language)("export.about_bundle", count=len(items)), *about]
        page = index_page(title, [Part(cards=cards)], language=language, about=about)
        index = {
            "format": INDEX_FORMAT,
            "program": "Headlight",
            "version": __version__,
            "title": title,
            "figures": entries,
        }
        _add(archive, "index.html", page.encode("utf-8", errors="replace"))
        text = json.dumps(index, ensure_ascii=False, indent=1, default=str) + "\n"
        _add(archive, "index.json", text.encode("utf-8", errors="replace"))
    return buffer.getvalue()


def _files(name: str, item: BundleItem, formats: Sequence[str], turn: Turn) -> Iterator[tuple[str, str, bytes]]:
    """Name in the zip, format and bytes of each file of a figure.

    The files carry the figure's own name in their command: a bundle's numbering is no part of a figure.
    """
    own = formats_of(item.figure)
    chosen = [format for format in dict.fromkeys(formats) if format in own]
    films = [format for format in own if RENDERERS[format].moves]
    chosen = [*(film for film in films if film not in chosen), *chosen]
    for format in chosen:
        try:
            with turn():
                made = export_files(item.figure, format, item.style, dpi=item.dpi_for(format))
        except PictureTooLarge:  # its other formats have it
            continue
        for ending, data in made.items():
            yield f"{format}/{name}{ending}", format, data


def _command(item: BundleItem, format: str) -> str:
    return command_for(item.figure, item.style, format=format, dpi=item.dpi_for(format))


def _index_entry(item: BundleItem, files: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the entry of a figure in index.json."""
    figure = item.figure
    words = {name: getattr(figure, name) for name in ("title", "caption", "alt", "language")}
    provenance = {name: value for name, value in figure.provenance.items() if name != "command"}
    return {**words, "provenance": provenance, "style": item.style.as_dict(), "dpi": item.dpi, "files": list(files)}


def _card(name: str, item: BundleItem, files: Sequence[Mapping[str, str]]) -> Card:
    """Return the card of a figure in index.html."""
    figure, provenance = item.figure, item.figure.provenance
    read = " \u2192 ".join(str(provenance[key]) for key in ("source", "translation") if provenance.get(key))
    model = " \u00b7 ".join(
        [str(provenance.get("checkpoint", "")), str(provenance.get("checkpoint_sha256", ""))[:_HASH]]
    )
    # Of a drawing, whose command tells the style too, before that of numbers.
    first = min(files, key=lambda file: file["file"].partition("/")[0] in DATA_FORMATS, default=None)
    return Card(
        files=[file["file"] for file in files],
        png=preview(replace(figure, provenance={}), with_theme(figure, item.style)),
        alt=figure.alt,
        title=figure.title or name,
        caption=figure.caption,
        notes=[read, model] if provenance.get("checkpoint") else [],
        command=first["command"] if first else "",
    )


def _names(figures: Sequence[Figure]) -> list[str]:
    """Return safe names that differ also without regard to case."""
    names: list[str] = []
    taken: set[str] = set()
    for figure in figures:
        stem = re.sub(r"[^A-Za-z0-9_-]+", "_", figure.name) or "headlight"
        name, number = stem, 2
        while name.lower() in taken:
            name, number = f"{stem}-{number}", number + 1
        taken.add(name.lower())
        names.append(name)
    return names


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.create_system = 3  # the same on every system
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data, compresslevel=6)
