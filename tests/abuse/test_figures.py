"""Figures of an absurd size, and of tokens that break what draws or opens them."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from tests.abuse.target import within
from transformer_core.cli.analyse.analysis import table_csv
from viz_app.export import command_for, file_bytes
from viz_app.figure_editor.rendering import ExportableFigure, Preview
from viz_app.figures import HeatmapFigure, Style, fonts, formats_of
from viz_app.figures.model.figure import HeatmapPanel
from viz_app.figures.model.pixels import MAX_PIXELS, PictureTooLarge, check_pixels


def of_tokens(*tokens: str) -> HeatmapFigure:
    weights = np.full((len(tokens), len(tokens)), 1 / len(tokens), dtype=np.float32)
    panel = HeatmapPanel(weights=weights, query_labels=tokens, key_labels=tokens)
    return HeatmapFigure(panels=(panel,), query_title="Query", key_title="Key")


def test_a_picture_of_two_metres_takes_neither_time_nor_memory() -> None:
    with (
        within(100),
        pytest.raises(PictureTooLarge, match=r"2,232 million pixels.*at most 40 million; 80 dpi would fit"),
    ):
        file_bytes(of_tokens("a", "b"), "png", Style(width_mm=2000, height_mm=2000), dpi=600)


def test_what_the_message_says_fits_does_fit() -> None:
    with pytest.raises(PictureTooLarge) as caught:
        check_pixels(80, 70, 300, frames=3)
    check_pixels(80, 70, caught.value.dpi, frames=3)
    with pytest.raises(PictureTooLarge):
        check_pixels(80, 70, caught.value.dpi + 1, frames=3)
    check_pixels(8.27, 11.69, 600)  # A4, as a printer wants it


def test_the_page_says_so_before_anybody_presses_the_button() -> None:
    exportable = ExportableFigure(of_tokens("a", "b"), Style(width_mm=2000, height_mm=2000), dpi=600)
    result = exportable.oversized(Preview(b"", 2000, 2000))
    assert set(result) == {"png"} and result["png"].pixels > MAX_PIXELS
    assert not replace(exportable, dpi=72).oversized(Preview(b"", 2000, 2000))


def test_invisible_characters_print() -> None:
    figure = of_tokens("\ufeffx", "\ufeff", "\u200b\ufeff", "\u202ex", "\ud800", "b")
    for format in formats_of(figure):
        assert file_bytes(figure, format)


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_no_cell_runs_as_a_formula_where_other_marks_separate_them(delimiter: str) -> None:
    """In Excel of a country whose numbers have a comma."""
    labels = [
        f"a{between}{start}cmd|'/C+calc'!A0" for between in (";", ";;", "\t", ';"', "; ") for start in "=+-@\uff1d"
    ]
    figure = of_tokens(*labels, "b;c", "x;'y")
    for table in (file_bytes(figure, "csv"), table_csv({"token": np.array(labels)})):
        for cell in chain.from_iterable(csv.reader(io.StringIO(table.decode("utf-8-sig")), delimiter=delimiter)):
            assert not cell.lstrip(' \r\n\t"').startswith(("=", "+", "-", "@", "\uff1d")) or float(cell)
    written = {row["key_label"] for row in csv.DictReader(io.StringIO(file_bytes(figure, "csv").decode("utf-8-sig")))}
    assert {label.replace(";'", ";", 1) for label in written} >= {labels[0], "b;c", "x;'y"}


def test_no_cell_runs_as_a_formula() -> None:
    leads, starts = ("", " ", "\u00a0", "\u200b", "\ufeff", "\u2063", "\u0001", "\u3000 "), "=+-@\uff1d"
    labels = [f"{lead}{start}cmd|' /C calc'!A0" for lead in leads for start in starts]
    rows = list(csv.DictReader(io.StringIO(file_bytes(of_tokens(*labels, "b"), "csv").decode("utf-8"))))
    written = [*(f"'{label}" for label in labels), "b"]
    assert [row["key_label"] for row in rows[: len(written)]] == written
    assert [row["query_label"] for row in rows[:: len(written)]] == written


@pytest.mark.skipif(shutil.which("bash") is None, reason="a shell that knows $'...', as POSIX has it since 2024")
@pytest.mark.parametrize("name", ["source", "checkpoint"])
@pytest.mark.parametrize(
    "text", ["\x1b[201~\x15touch it\x0f", "it's $HOME \\ \x07 `id`", "\u009b201~\u00e9 \u4e00", "plain's"]
)
def test_a_command_can_be_pasted_whatever_it_names(name: str, text: str) -> None:
    """No character of it steers the terminal, such as the end of a paste, and the shell reads the text as it is."""
    provenance = {"checkpoint": "model", "source": "a b", "view": {"name": "head"}, name: text}
    command = command_for(replace(of_tokens("a", "b"), provenance=provenance))
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", command)
    said = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True, timeout=10)
    words = said.stdout.decode().split("\0")
    assert f"--{'text' if name == 'source' else name}={text}" in words and words[:4] == [
        "python",
        "-m",
        "viz_app",
        "export",
    ]


@pytest.mark.process
def test_fonts_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    gone, used = tmp_path / f"headlight-fonts-{killed.pid}-a", tmp_path / f"headlight-fonts-{os.getpid()}-b"
    for folder in (gone, used):
        folder.mkdir()
        (folder / "headlight-sans.ttf").write_bytes(b"font")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with fonts._temporary_folder.__wrapped__() as own:
        assert Path(own).name.startswith(f"headlight-fonts-{os.getpid()}-")
        assert sorted(tmp_path.iterdir()) == sorted((used, Path(own)))
