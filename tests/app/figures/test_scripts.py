"""Scripts beyond Latin and Korean: letters that join, from right to left, and fonts of the computer."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import numpy as np
import pypdf
import pytest
from fontTools.fontBuilder import FontBuilder  # type: ignore[import-untyped]
from fontTools.pens.ttGlyphPen import TTGlyphPen  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from matplotlib import font_manager
from PIL import Image

from tests.app.figures.conftest import make_maps
from tests.app.figures.samples import one_head
from viz_app.figures import Figure, HeatmapFigure, Style, check, export, fonts
from viz_app.figures.mpl.canvas import Canvas
from viz_app.figures.mpl.renderer import drawing_settings

BEH, ALEF, BET = "\u0628", "\u05d0", "\u05d1"
BEH_FINAL, BEH_INITIAL = 0xFE90, 0xFE91  # how the letter looks at the end and at the start of a word
CHINESE = "\u4e2d"
TABLE_OF_FONTS = fonts._table.__wrapped__  # the fixture of this folder puts an empty one in its place


def figure_of(token: str) -> HeatmapFigure:
    return one_head(make_maps((token,), (token,), layers=1, heads=1), "encoder", 0, 0)


def test_arabic_letters_join() -> None:
    with drawing_settings():
        path = fonts._paths()[1]
        long = fonts.width(BEH + BEH, 100)
    font = TTFont(path)
    names, advances = font.getBestCmap(), font["hmtx"]
    joined = sum(advances[names[form]][0] for form in (BEH_INITIAL, BEH_FINAL))
    assert long == pytest.approx(joined / font["head"].unitsPerEm * 100, rel=0.02)
    assert long < 0.9 * 2 * advances[names[ord(BEH)]][0] / font["head"].unitsPerEm * 100, (
        "not two letters by themselves"
    )


def test_an_svg_takes_along_how_letters_join() -> None:
    svg = export(figure_of(BEH + BEH), "svg").decode()
    embedded = [TTFont(io.BytesIO(base64.b64decode(font))) for font in re.findall(r"font/woff;base64,([^)]+)", svg)]
    (arabic,) = (font for font in embedded if ord(BEH) in font.getBestCmap())
    assert {"init", "fina"} <= {record.FeatureTag for record in arabic["GSUB"].table.FeatureList.FeatureRecord}


def test_hebrew_runs_from_right_to_left() -> None:
    with drawing_settings():
        wide = fonts.width(BET, 60)

        def drawn(*letters: tuple[float, str]) -> np.ndarray:
            canvas = Canvas(Figure(), Style(), "png", 72, 160, 90)
            for x, text in letters:
                canvas.text(x, 50, text, 60, "#000000", ha="left")
            return np.asarray(Image.open(io.BytesIO(canvas.save())).convert("L"), dtype=float)

        word, right_to_left = drawn((20, ALEF + BET)), drawn((20, BET), (20 + wide, ALEF))
        left_to_right = drawn((20, ALEF), (20 + fonts.width(ALEF, 60), BET))
    assert np.abs(word - right_to_left).mean() < 0.2 * np.abs(word - left_to_right).mean()


def test_a_font_of_the_computer_stands_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figure = figure_of(CHINESE)
    assert [warning.code for warning in check.find_print_issues(figure)] == ["glyphs"]
    path = tmp_path / "chinese.ttf"
    make_font(path, "Noto Sans Test", ord(CHINESE))
    entry = font_manager.FontEntry(fname=str(path), name="Noto Sans Test", weight=400)
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [*font_manager.fontManager.ttflist, entry])
    monkeypatch.setattr(fonts, "_candidates", lambda: (entry,))
    monkeypatch.setattr(fonts, "_table", TABLE_OF_FONTS)
    assert check.find_print_issues(figure) == ()
    page = pypdf.PdfReader(io.BytesIO(export(figure, "pdf"))).pages[0]
    used = [font.get_object()["/BaseFont"] for font in page["/Resources"]["/Font"].values()]  # type: ignore[index]
    assert any("NotoSansTest" in name for name in used)
    assert CHINESE in page.extract_text()
    assert "font-family:'Noto Sans Test'" in export(figure, "svg").decode()
    with drawing_settings():
        assert fonts.width(CHINESE, 10) == pytest.approx(9, abs=0.1)


def make_font(path: Path, family: str, point: int) -> None:
    """A font with one character, a square that takes nine tenths of its size."""
    pen = TTGlyphPen(None)
    pen.moveTo((50, 0))
    for corner in ((850, 0), (850, 800), (50, 800)):
        pen.lineTo(corner)
    pen.closePath()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "square"])
    builder.setupCharacterMap({point: "square"})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "square": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0), "square": (900, 50)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200)
    builder.setupNameTable({"familyName": family, "styleName": "Regular", "psName": family.replace(" ", "")})
    builder.setupPost()
    builder.save(path)
