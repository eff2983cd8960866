"""Many sentences and heads -> a folder with a file for each, that an interrupted run goes on to fill.

A journal in the folder has a line for every complete file: what it shows, a hash of everything that it depends on, and
a hash of its bytes. What stands there and is still so is not made again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from transformer_core import __version__
from transformer_core.cli.options import UsageError
from transformer_core.translator import SourceTooLong
from viz_app.export import pictures
from viz_app.export.figure_request import FigureRequest, ForwardResult, ModelRunner, check_places, render
from viz_app.export.folder import Folder
from viz_app.export.recorded import files_of
from viz_app.figures import Figure, HeatmapFigure, Style, check
from viz_app.text import texts

log = logging.getLogger(__name__)

FORMAT_VERSION = 1
SHEET_PANELS = 48  # maps on a contact sheet, unless one sentence alone has more


@dataclass(frozen=True)
class Place:
    """One head, counted from 0."""

    kind: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.kind}.{self.layer + 1}.{self.head + 1}"


@dataclass(frozen=True)
class Line:
    """A line of the file of sentences: its number from 1, and its text or why it has none."""

    number: int
    text: str
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What is to be made.

    Args:
        lines: The sentences.
        places: The heads.
        order: Order of every figure but for its sentence and head.
        formats: Formats of each file.
        style: How they are drawn.
        dpi: Dots per inch, or None.
        sheet: Format of the contact sheets, "pdf" or "png".
        strict: Whether a figure with a warning counts as a problem and is not written.
    """

    lines: Sequence[Line]
    places: Sequence[Place]
    order: FigureRequest
    formats: Sequence[str]
    style: Style
    dpi: int | None = None
    sheet: str = "pdf"
    strict: bool = False

    def ordered(self, line: Line, place: Place) -> FigureRequest:
        """The order of one figure."""
        sentence = replace(self.order.sentence, text=line.text)
        return replace(self.order, sentence=sentence, parameters={**self.order.parameters, **asdict(place)})

    def stem(self, line: Line, place: Place) -> str:
        """Name of the files of one figure without their endings; nothing of it comes from a sentence."""
        digits = max(3, len(str(len(self.lines))))
        view = "" if self.order.view == "head" else f"_{self.order.view}"
        return f"{line.number:0{digits}}_{place.kind}_layer{place.layer + 1}_head{place.head + 1}{view}"

    def groups(self) -> Iterator[tuple[str, list[Line]]]:
        """Sentences that share a contact sheet, and its name."""
        good = [line for line in self.lines if not line.problem]
        size = max(1, SHEET_PANELS // len(self.places))
        for number, start in enumerate(range(0, len(good), size), start=1):
            yield f"contact-sheet-{number:03}.{self.sheet}", good[start : start + size]


def make(batch: Batch, folder: Folder, reader: ModelRunner, on_progress: Callable[[], object]) -> list[Line]:
    """Make all that is missing.

    Args:
        batch: What is to be made.
        folder: Where.
        reader: The model.
        on_progress: Called for every figure, also for those that were there.

    Returns:
        The lines without figures, each with its problem.
    """
    problems = [line for line in batch.lines if line.problem]
    told: set[str] = set()
    checkpoint = reader.translator(batch.order.sentence.checkpoint).checkpoint_hash
    for sheet, lines in batch.groups():
        sheet_key = _key(checkpoint, batch, [batch.ordered(line, place) for line in lines for place in batch.places])
        whole = folder.complete(sheet, sheet_key)
        rows: list[tuple[Line, ForwardResult]] = []
        for line in lines:
            todo = [place for place in batch.places if not _is_there(batch, folder, checkpoint, line, place)]
            for _ in range(len(batch.places) - len(todo)):
                on_progress()
            if whole and not todo:
                continue
            try:
                reading = reader.read(replace(batch.order.sentence, text=line.text))
            except SourceTooLong as error:
                problems.append(replace(line, problem=str(error)))
                for _ in todo:
                    on_progress()
                continue
            rows.append((line, reading))
            for place in todo:
                problem = _make_one(batch, folder, checkpoint, line, place, reading, told)
                if problem:
                    problems.append(replace(line, problem=problem))
                on_progress()
        rows = [] if whole else [row for row in rows if _fits_on_sheet(batch, *row)]
        if rows:
            figure = contact_sheet(batch, rows)
            (data,) = files_of(figure, batch.sheet, _sheet_style(batch.style), dpi=batch.dpi).values()
            folder.write(sheet, sheet_key, data, {"sheet": True, "lines": [line.number for line, _ in rows]})
    return sorted(problems, key=lambda line: line.number)


def contact_sheet(batch: Batch, rows: Sequence[tuple[Line, ForwardResult]]) -> HeatmapFigure:
    """The maps of several sentences, a row for each, a column for each head."""
    t = texts(batch.order.language)
    figures = [
        [render(replace(batch.ordered(line, place), view="head", parameters=_head(batch, place)), reading)
         for place in batch.places]
        for line, reading in rows
    ]  # fmt: skip
    panels = [
        replace(figure.panels[0], title=str(place), kind=place.kind, query_notes=None)  # type: ignore[attr-defined]
        for row in figures
        for place, figure in zip(batch.places, row, strict=True)
    ]
    columns = len(batch.places)
    if len(rows) == 1:  # many heads of one sentence
        columns = min(columns, 8)
    origin = rows[0][1].origin
    return HeatmapFigure(
        panels=panels,
        columns=columns,
        query_title=t("figures.query"),
        key_title=t("figures.key"),
        scale_title=t("figures.scale"),
        title=t("export.sheet_title", first=rows[0][0].number, last=rows[-1][0].number),
        caption=t("export.sheet_caption"),
        tile_note=t("export.sheet_caption"),
        masked_note=t("figures.masked") if any(place.kind == "decoder" for place in batch.places) else "",
        masked_cell=t("figures.masked_cell"),
        row_titles=[str(line.number) for line, _ in rows] if len(rows) > 1 else (),
        language=batch.order.language,
        name="headlight_contact_sheet",
        provenance={
            "checkpoint": origin["checkpoint"],
            "checkpoint_sha256": origin["checkpoint_sha256"],
            "sentences": {str(line.number): line.text for line, _ in rows},
            "heads": [str(place) for place in batch.places],
        },
    )


def _fits_on_sheet(batch: Batch, line: Line, reading: ForwardResult) -> bool:
    """Whether a sentence has maps at all: a step may be later than its last one."""
    return (batch.order.parameters.get("step") or 1) <= len(reading.maps.outputs)


def _sheet_style(style: Style) -> Style:
    """Colours as in the files; the size is the sheet's own."""
    kept = ("scale", "value_range", "mapping", "theme")
    return Style.of({name: value for name, value in style.as_dict().items() if name in kept})


def _head(batch: Batch, place: Place) -> dict[str, Any]:
    kept = {name: value for name, value in batch.order.parameters.items() if name in ("unit", "step")}
    return {**kept, **asdict(place)}


def _is_there(batch: Batch, folder: Folder, checkpoint: str, line: Line, place: Place) -> bool:
    key = _key(checkpoint, batch, [batch.ordered(line, place)])
    # All are asked, so that a file made otherwise is refused before another of this figure is written.
    return all([folder.complete(name, key) for name in _names(batch, line, place)])


def _names(batch: Batch, line: Line, place: Place) -> list[str]:
    stem = batch.stem(line, place)
    endings = [*batch.formats, *(["csv.json"] if "csv" in batch.formats else [])]
    return [f"{stem}.{ending}" for ending in endings]


def _make_one(
    batch: Batch, folder: Folder, checkpoint: str, line: Line, place: Place, reading: ForwardResult, told: set[str]
) -> str:
    """Write the files of one figure; returns why not, if not."""
    order = batch.ordered(line, place)
    check_places(order.parameters, reading.maps, reading.maps)
    try:
        figure = render(order, reading)
    except UsageError as error:  # a step that this translation does not have
        return f"{place}: {error}"
    found = check.warnings(figure, batch.style)
    for warning in found:
        if warning.code not in told:
            log.warning("%s: %s", batch.stem(line, place), check.message(warning))
            told.add(warning.code)
    messages = [check.message(warning, batch.order.language) for warning in found]
    if batch.strict and messages:
        return f"{place}: {' '.join(messages)}"
    about = {
        "line": line.number,
        "head": str(place),
        "translation": reading.origin["translation"],
        "caption": figure.caption,
        "alt": figure.alt,
        "warnings": messages,
        "picture": _thumbnail(figure, batch.style),
    }
    key = _key(checkpoint, batch, [order])
    for format in batch.formats:
        for ending, data in files_of(figure, format, batch.style, dpi=batch.dpi).items():
            folder.write(batch.stem(line, place) + ending, key, data, about)
    return ""


def _thumbnail(figure: Figure, style: Style) -> str:
    return base64.b64encode(pictures.thumbnail(figure, style)).decode("ascii")


def _key(checkpoint: str, batch: Batch, orders: Sequence[FigureRequest]) -> str:
    """Hash of everything that a file depends on; where the checkpoint lies does not count, what it holds does."""
    told = [asdict(replace(order, sentence=replace(order.sentence, checkpoint=""))) for order in orders]
    everything = [FORMAT_VERSION, __version__, checkpoint, batch.style.as_dict(), batch.dpi, told]
    return hashlib.sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()
