"""Several figures in all their formats as one zip with an index."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace

from viz_app.export.command import command_of, themed
from viz_app.export.index_page import Card, Part, index_page
from viz_app.export.pictures import preview
from viz_app.export.recorded import files_of
from viz_app.figures import FORMATS, Figure, Style, formats_of
from viz_app.text import texts

BUNDLE_FORMATS = ("pdf", "svg", "png", "csv", "npz", "json")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip can tell


def bundle(
    figures: Sequence[Figure],
    formats: Sequence[str] = BUNDLE_FORMATS,
    style: Style | None = None,
    *,
    dpi: int | None = None,
    title: str = "Headlight",
    language: str = "en",
) -> bytes:
    """A zip of `index.html` and a folder for each format.

    Args:
        figures: What to pack.
        formats: Formats of each figure; one that a figure does not have is left out there, but an animation that has
            none of the drawn ones comes as GIF.
        style: How they are drawn.
        dpi: Dots per inch of PNG and GIF.
        title: Heading of the index; plain text.
        language: Language of the index.

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
    files: dict[str, bytes] = {}
    cards = []
    for name, figure in zip(_names(figures), figures, strict=True):
        chosen = [format for format in dict.fromkeys(formats) if format in formats_of(figure)]
        if "gif" in formats_of(figure) and "gif" not in chosen:
            chosen.insert(0, "gif")
        # The files inside carry the figure's own name in their command: a bundle's numbering is no part of a figure.
        made = {
            f"{format}/{name}{ending}": data
            for format in chosen
            for ending, data in files_of(figure, format, style, dpi=dpi).items()
        }
        files |= made
        drawn = replace(figure, provenance={})
        cards.append(
            Card(
                files=list(made),
                png=preview(drawn, themed(figure, style)),
                alt=figure.alt,
                title=figure.title or name,
                caption=figure.caption,
                command=command_of(figure, style, format=chosen[0], dpi=dpi) if chosen else "",
            )
        )
    about = [texts(language)("export.about_bundle", count=len(figures))]
    page = index_page(title, [Part(cards=cards)], language=language, about=about)
    return _zip({"index.html": page.encode("utf-8", errors="replace"), **files})


def _names(figures: Sequence[Figure]) -> list[str]:
    """Safe names, different from each other also where upper and lower case are the same."""
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


def _zip(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3  # the same on every system
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=6)
    return buffer.getvalue()
