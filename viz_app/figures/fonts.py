"""The type of exported figures: Pretendard (Latin and Korean), then DejaVu Sans for what Pretendard lacks.

matplotlib subsets a font for every PDF, and most of that time goes into layout tables that plain labels do not use
(measured: 0.9 s with them, 0.2 s without). So it gets a copy of Pretendard without them, made once per process in a
temporary folder; the file in `static/fonts` stays as it was published.

Not safe for use by several threads at once: the renderer holds its lock around every call.
"""

from __future__ import annotations

import base64
import io
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from fontTools import subset  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from matplotlib import font_manager, ft2font
from matplotlib.font_manager import FontEntry, FontProperties

SOURCE = Path(__file__).resolve().parent.parent / "static" / "fonts" / "Pretendard-Regular.ttf"
FAMILY = "Headlight Sans"  # not "Pretendard": that name is reserved for the unmodified font
FALLBACK = "DejaVu Sans"  # comes with matplotlib
_LAYOUT_TABLES = ("GSUB", "GPOS", "GDEF", "DSIG", "FFTM")


@cache
def families() -> list[str]:
    """Font families for matplotlib, first choice first; registers them on the first call."""
    if not SOURCE.is_file():
        raise FileNotFoundError(f"the font of exported figures is missing: viz_app/static/fonts/{SOURCE.name}")
    folder = _temporary_folder()
    path = Path(folder.name) / "headlight-sans.ttf"
    with TTFont(SOURCE, lazy=True, recalcTimestamp=False) as font:  # the same bytes in every process
        for table in _LAYOUT_TABLES:
            if table in font:
                del font[table]
        font.save(path)
    font_manager.fontManager.ttflist.append(FontEntry(fname=str(path), name=FAMILY, weight=400))
    return [FAMILY, FALLBACK]


def width(text: str, size: float) -> float:
    """Width of a text in points at a font size in points."""
    font = _measuring_font()
    font.set_size(size, 72)
    # Unhinted, so that the measure scales with the size as print does.
    font.set_text(text, 0.0, flags=ft2font.LoadFlags.NO_HINTING)
    return float(font.get_width_height()[0]) / 64


def missing_characters(text: str) -> set[str]:
    """Characters that neither font has; they are drawn as boxes, though they can still be copied."""
    covered = [_coverage(path) for path in _paths()]
    return {c for c in text if not c.isspace() and not any(ord(c) in characters for characters in covered)}


def font_face_css(text: str) -> str:
    """CSS @font-face rules that embed exactly the characters of `text`, so that an SVG looks the same everywhere."""
    rules = []
    left = set(text)
    for family, path in zip(families(), _paths(), strict=True):
        used = {c for c in left if ord(c) in _coverage(path)}
        left -= used
        if used:
            data = base64.b64encode(_subset(path, "".join(sorted(used)))).decode("ascii")
            rules.append(f"@font-face{{font-family:'{family}';src:url(data:font/woff;base64,{data}) format('woff')}}")
    return "".join(rules)


def _subset(path: str, characters: str) -> bytes:
    """A WOFF font with these characters, without names and hints; bytes the same every time."""
    options = subset.Options()
    options.flavor = "woff"
    options.hinting = False
    options.drop_tables = [*options.drop_tables, "DSIG", "FFTM"]
    if path == _paths()[0]:  # the fallback keeps them: Arabic letters join by them
        options.layout_features = []
        options.drop_tables += _LAYOUT_TABLES
    options.name_IDs = []
    options.notdef_outline = True
    options.recalc_timestamp = False
    font = subset.load_font(path, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    buffer = io.BytesIO()
    subset.save_font(font, buffer, options)
    return buffer.getvalue()


@cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Kept until the process ends, then removed with what is in it."""
    return tempfile.TemporaryDirectory(prefix="headlight-fonts-")


@cache
def _paths() -> tuple[str, ...]:
    return tuple(font_manager.findfont(FontProperties(family=name), fallback_to_default=False) for name in families())


@cache
def _coverage(path: str) -> frozenset[int]:
    """Code points of a font."""
    with TTFont(path, lazy=True) as font:
        return frozenset(font.getBestCmap())


def _measuring_font() -> Any:
    return font_manager.get_font(_paths())
