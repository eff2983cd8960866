"""Many sentences and heads -> a folder with a file for each; an interrupted run can be resumed.

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

from transformer_core import __version__
from transformer_core.cli.arguments import UsageError
from transformer_core.translator import SourceTooLong
from viz_app.export import pictures
from viz_app.export.figure_request import ForwardResult, ModelRunner, Sentence, check_indices, render
from viz_app.export.folder import BatchFolder
from viz_app.export.recorded import export_files
from viz_app.figures import FigureOptions, HeatmapFigure, Style, check
from viz_app.text import texts

log = logging.getLogger(__name__)

FORMAT_VERSION = 1
SHEET_PANELS = 48  # maps on a contact sheet, unless one sentence alone has more


@dataclass(frozen=True)
class HeadAddress:
    """One head, counted from 0."""

    kind: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.kind}.{self.layer + 1}.{self.head + 1}"


@dataclass(frozen=True)
class SentenceLine:
    """A line of the file of sentences: its number from 1, and its text or why it has none."""

    number: int
    text: str
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The figures to make.

    Args:
        lines: The sentences.
        places: The heads.
        sentence: Of every figure; its text is replaced.
        options: Of every figure; its head is replaced.
        formats: Formats of each file.
        style: How they are drawn.
        dpi: Dots per inch, or None.
        sheet: Format of the contact sheets, "pdf" or "png".
        strict: Whether a figure with a warning counts as a problem and is not written.
    """

    lines: Sequence[SentenceLine]
    places: Sequence[HeadAddress]
    sentence: Sentence
    options: FigureOptions
    formats: Sequence[str]
    style: Style
    dpi: int | None = None
    sheet: str = "pdf"
    strict: bool = False

    def sentence_of(self, line: SentenceLine) -> Sentence:
        """Return the sentence of a line."""
        return replace(self.sentence, text=line.text)

    def options_of(self, place: HeadAddress, view: str = "") -> FigureOptions:
        """Return the options of one figure, or of its head in another view."""
        return replace(self.options, view=view or self.options.view, **vars(place))

    def stem(self, line: SentenceLine, place: HeadAddress) -> str:
        """Name of the files of one figure without their endings; nothing of it comes from a sentence."""
        digits = max(3, len(str(len(self.lines))))
        view = "" if self.options.view == "head" else f"_{self.options.view}"
        return f"{line.number:0{digits}}_{place.kind}_layer{place.layer + 1}_head{place.head + 1}{view}"

    def groups(self) -> Iterator[tuple[str, list[SentenceLine]]]:
        """Yield sentences that share a contact sheet, with its name."""
        good = [line for line in self.lines if not line.problem]
        size = max(1, SHEET_PANELS // len(self.places))
        for number, start in enumerate(range(0, len(good), size), start=1):
            yield f"contact-sheet-{number:03}.{self.sheet}", good[start : start + size]


def fill_folder(
    batch: Batch, folder: BatchFolder, runner: ModelRunner, on_progress: Callable[[], object]
) -> list[SentenceLine]:
    """Make all missing files.

    Args:
        batch: The figures to make.
        folder: The folder to fill.
        runner: Runs the model.
        on_progress: Called for every figure, existing ones included.

    Returns:
        The lines without figures, each with its problem.
    """
    problems = [line for line in batch.lines if line.problem]
    logged: set[str] = set()
    checkpoint = (runner.translator(batch.sentence.checkpoint).checkpoint_hash,)
    for sheet, lines in batch.groups():
        sheet_keys = _keys(checkpoint, batch, [(line, place) for line in lines for place in batch.places])
        whole = folder.is_complete(sheet, sheet_keys)
        rows: list[tuple[SentenceLine, ForwardResult]] = []
        for line in lines:
            todo = [place for place in batch.places if not _is_complete(batch, folder, checkpoint, line, place)]
            for _ in range(len(batch.places) - len(todo)):
                on_progress()
            if whole and not todo:
                continue
            try:
                result = runner.run(batch.sentence_of(line))
            except SourceTooLong as error:
                problems.append(replace(line, problem=str(error)))
                for _ in todo:
                    on_progress()
                continue
            rows.append((line, result))
            for place in todo:
                problem = _write_figure(batch, folder, checkpoint, line, place, result, logged)
                if problem:
                    problems.append(replace(line, problem=problem))
                on_progress()
        rows = [] if whole else [row for row in rows if _fits_on_sheet(batch, *row)]
        if rows:
            figure = contact_sheet(batch, rows)
            (data,) = export_files(figure, batch.sheet, _sheet_style(batch.style), dpi=batch.dpi).values()
            folder.write(sheet, sheet_keys[0], data, {"sheet": True, "lines": [line.number for line, _ in rows]})
    return sorted(problems, key=lambda line: line.number)


def contact_sheet(batch: Batch, rows: Sequence[tuple[SentenceLine, ForwardResult]]) -> HeatmapFigure:
    """Return the maps of several sentences, a row for each, a column for each head."""
    t = texts(batch.options.language)
    figures = [[render(batch.options_of(place, "head"), reading) for place in batch.places] for _, reading in rows]
    panels = [
        replace(figure.panels[0], title=str(place), kind=place.kind, query_notes=None)  # type: ignore[attr-defined]
        for row in figures
        for place, figure in zip(batch.places, row, strict=True)
    ]
    columns = len(batch.places)
    if len(rows) == 1:  # many heads of one sentence
        columns = min(columns, 8)
    origin = rows[0][1].provenance
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
        language=batch.options.language,
        name="headlight_contact_sheet",
        provenance={
            "checkpoint": origin["checkpoint"],
            "checkpoint_sha256": origin["checkpoint_sha256"],
            "sentences": {str(line.number): line.text for line, _ in rows},
            "heads": [str(place) for place in batch.places],
        },
    )


def _fits_on_sheet(batch: Batch, line: SentenceLine, result: ForwardResult) -> bool:
    """Return whether a sentence has maps at all: a step may be later than its last one."""
    return (batch.options.step or 1) <= len(result.maps.outputs)


def _sheet_style(style: Style) -> Style:
    """Return the colours of the files; the size is the sheet's own."""
    kept = ("scale", "value_range", "mapping", "theme")
    return Style.from_dict({name: value for name, value in style.as_dict().items() if name in kept})


def _is_complete(
    batch: Batch, folder: BatchFolder, checkpoint: Sequence[str], line: SentenceLine, place: HeadAddress
) -> bool:
    keys = _keys(checkpoint, batch, [(line, place)])
    # Check all files first, so that a file made with other options is refused before one of this figure is written.
    return all([folder.is_complete(name, keys) for name in _names(batch, line, place)])


def _names(batch: Batch, line: SentenceLine, place: HeadAddress) -> list[str]:
    stem = batch.stem(line, place)
    endings = [*batch.formats, *(["csv.json"] if "csv" in batch.formats else [])]
    return [f"{stem}.{ending}" for ending in endings]


def _write_figure(
    batch: Batch,
    folder: BatchFolder,
    checkpoint: Sequence[str],
    line: SentenceLine,
    place: HeadAddress,
    result: ForwardResult,
    logged: set[str],
) -> str:
    """Write the files of one figure; returns the problem, or ""."""
    check_indices(batch.options_of(place), result.maps, result.maps)
    try:
        figure = render(batch.options_of(place), result)
    except UsageError as error:  # a step that this translation does not have
        return f"{place}: {error}"
    found = check.find_print_issues(figure, batch.style)
    for warning in found:
        if warning.code not in logged:
            log.warning("%s: %s", batch.stem(line, place), check.message(warning))
            logged.add(warning.code)
    messages = [check.message(warning, batch.options.language) for warning in found]
    if batch.strict and messages:
        return f"{place}: {' '.join(messages)}"
    about = {
        "line": line.number,
        "head": str(place),
        "translation": result.provenance["translation"],
        "caption": figure.caption,
        "alt": figure.alt,
        "warnings": messages,
        "picture": base64.b64encode(pictures.thumbnail(figure, batch.style)).decode("ascii"),
    }
    key = _keys(checkpoint, batch, [(line, place)])[0]
    for format in batch.formats:
        for ending, data in export_files(figure, format, batch.style, dpi=batch.dpi).items():
            folder.write(batch.stem(line, place) + ending, key, data, about)
    return ""


def _keys(checkpoint: Sequence[str], batch: Batch, figures: Sequence[tuple[SentenceLine, HeadAddress]]) -> list[str]:
    """Hash everything that a file depends on, for each name of the model, today's first.

    Where the checkpoint lies does not count, what it holds does.
    """
    contents = [
        {**asdict(replace(batch.sentence_of(line), checkpoint="")), **asdict(batch.options_of(place))}
        for line, place in figures
    ]
    rest = [batch.style.as_dict(), batch.dpi, contents]
    everything = (json.dumps([FORMAT_VERSION, __version__, name, *rest], sort_keys=True) for name in checkpoint)
    return [hashlib.sha256(text.encode()).hexdigest() for text in everything]
