"""The type of exported figures: Pretendard (Latin and Korean), then DejaVu Sans for what Pretendard lacks.

DejaVu has Hebrew and Arabic, and matplotlib (3.11, with HarfBuzz) joins their letters and sets them from right to left.
Chinese, Japanese, Thai, Hindi and the like have no font here, since these are large; characters that both fonts lack
come from a font of the computer, where it has one. Nothing is downloaded, and such a figure is the same, byte for byte,
only where the same fonts are installed.

matplotlib subsets a font for every PDF, and most of that time goes into layout tables that plain labels do not use
(measured: 0.9 s with them, 0.2 s without). So it gets a copy of Pretendard without them, made once per process in a
temporary folder; the file in `static/fonts` stays as it was published.

Not safe for use by several threads at once: the renderer holds its lock around every call.
"""

from __future__ import annotations

import base64
import io
import tempfile
from functools import cache, lru_cache
from pathlib import Path

import uharfbuzz as harfbuzz
from fontTools.ttLib import TTFont, TTLibError  # type: ignore[import-untyped]
from matplotlib import font_manager, ft2font
from matplotlib.font_manager import FontEntry, FontProperties

from transformer_core.storage.temporary_folders import remove_leftovers, temporary_folder

SOURCE = Path(__file__).resolve().parent.parent / "static" / "fonts" / "Pretendard-Regular.ttf"
FAMILY = "Headlight Sans"  # not "Pretendard": that name is reserved for the unmodified font
FALLBACK = "DejaVu Sans"  # comes with matplotlib
_UNUSED_TABLES = ("DSIG", "FFTM")
_NOT_FOR_LABELS = ("GSUB", "GPOS", "GDEF", *_UNUSED_TABLES)
# Fonts of a computer that are tried first, and then all of the Noto Sans family: Linux, macOS, Windows.
_PREFERRED = (
    "Noto Sans CJK KR", "Noto Sans CJK SC", "Noto Sans CJK JP", "Source Han Sans KR", "Source Han Sans SC",
    "PingFang SC", "Hiragino Sans", "Microsoft YaHei", "Yu Gothic", "IPAexGothic", "IPAGothic", "WenQuanYi Micro Hei",
    "Leelawadee UI", "Thonburi", "Nirmala UI", "Kohinoor Devanagari", "Arial Unicode MS",
)  # fmt: skip
_NOTO = "Noto Sans "
_PLACE = "headlight-fonts"  # kind of the temporary folder


@cache
def families() -> list[str]:
    """Font families for matplotlib, first choice first; registers them on the first call."""
    if not SOURCE.is_file():
        raise FileNotFoundError(f"the font of exported figures is missing: viz_app/static/fonts/{SOURCE.name}")
    folder = _temporary_folder()
    path = Path(folder.name) / "headlight-sans.ttf"
    with TTFont(SOURCE, lazy=True, recalcTimestamp=False) as font:  # the same bytes in every process
        for table in _NOT_FOR_LABELS:
            if table in font:
                del font[table]
        font.save(path)
    font_manager.fontManager.ttflist.append(FontEntry(fname=str(path), name=FAMILY, weight=400))
    return [FAMILY, FALLBACK]


def families_for(text: str) -> list[str]:
    """Return the families for `text`: `families`, and fonts of this computer for characters that they lack."""
    return [*families(), *(entry.name for entry in _entries_for(text))]


def width(text: str, size: float) -> float:
    """Width of a text in points at a font size in points."""
    font = font_manager.get_font(_paths_for(text))
    font.set_size(size, 72)
    # Unhinted, so that the measure scales with the size as print does.
    font.set_text(text, 0.0, flags=ft2font.LoadFlags.NO_HINTING)
    return float(font.get_width_height()[0]) / 64


def missing_characters(text: str) -> set[str]:
    """Characters that no font has; they are drawn as boxes, though they can still be copied."""
    covered = [_coverage(path) for path in _paths_for(text)]
    return {c for c in text if not c.isspace() and not any(ord(c) in characters for characters in covered)}


def font_face_css(text: str) -> str:
    """CSS @font-face rules that embed exactly the characters of `text`, so that an SVG looks the same everywhere."""
    rules = []
    missing = set(text)
    for family, path in zip(families_for(text), _paths_for(text), strict=True):
        used = {c for c in missing if ord(c) in _coverage(path)}
        missing -= used
        if used:
            data = base64.b64encode(_subset(path, "".join(sorted(used)))).decode("ascii")
            rules.append(f"@font-face{{font-family:'{family}';src:url(data:font/woff;base64,{data}) format('woff')}}")
    return "".join(rules)


def _subset(path: str, characters: str) -> bytes:
    """Return a WOFF font with these characters, without names and hints; bytes the same every time."""
    subset = harfbuzz.SubsetInput()
    subset.flags = harfbuzz.SubsetFlags.NO_HINTING | harfbuzz.SubsetFlags.NOTDEF_OUTLINE
    subset.unicode_set.update(map(ord, characters))
    subset.name_id_set.clear()
    # The fallback keeps its layout tables: Arabic letters join by them.
    dropped = _NOT_FOR_LABELS if path == _paths()[0] else _UNUSED_TABLES
    subset.drop_table_tag_set.update(int.from_bytes(name.encode()) for name in dropped)
    few = subset.subset(_harfbuzz_face(path)).blob.data
    buffer = io.BytesIO()
    with TTFont(io.BytesIO(few), lazy=True, recalcTimestamp=False) as font:
        font.flavor = "woff"
        font.save(buffer)
    return buffer.getvalue()


@lru_cache(maxsize=4)  # a font of the computer may be large
def _harfbuzz_face(path: str) -> harfbuzz.Face:
    data = Path(path).read_bytes()  # HarfBuzz would not find every name of a file on Windows
    return harfbuzz.Face(harfbuzz.Blob(data), _face(path))


@cache
def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Create a folder that is removed when the process ends, or by a later process if this one is killed."""
    remove_leftovers(_PLACE)
    return temporary_folder(_PLACE)


@cache
def _paths() -> tuple[str, ...]:
    return tuple(font_manager.findfont(FontProperties(family=name), fallback_to_default=False) for name in families())


def _paths_for(text: str) -> tuple[str, ...]:
    """Files of `families_for`; a file of several fonts knows which one is meant."""
    return (*_paths(), *map(_file_of, _entries_for(text)))


def _entries_for(text: str) -> tuple[FontEntry, ...]:
    covered = [_coverage(path) for path in _paths()]
    missing = frozenset(c for c in text if not c.isspace() and not any(ord(c) in characters for characters in covered))
    return _system_fonts(missing) if missing else ()


def _system_fonts(characters: frozenset[str]) -> tuple[FontEntry, ...]:
    """Return the fonts of this computer that have these characters, each from the first font that does."""
    table, candidates = _table(), _candidates()
    places = {table[ord(c)] for c in characters if ord(c) in table}
    return tuple(candidates[place] for place in sorted(places))


@cache
def _table() -> dict[int, int]:
    """Map each code point to the first candidate that has it; made when a character is first missed."""
    table: dict[int, int] = {}
    for place, entry in enumerate(_candidates()):
        path = _file_of(entry)
        try:
            with TTFont(path, lazy=True, fontNumber=_face(path)) as font:
                for point in font.getBestCmap() or ():
                    table.setdefault(point, place)
        except (OSError, TTLibError):  # a damaged font of the computer is no reason to draw nothing
            continue
    return table


@cache
def _candidates() -> tuple[FontEntry, ...]:
    """Return upright fonts of normal weight, one of each name, preferred ones first."""
    fonts = font_manager.fontManager.ttflist
    upright = {e.name: e for e in fonts if e.style == "normal" and e.weight in (400, "normal")}
    noto = sorted(name for name in upright if name.startswith(_NOTO) and name.replace(" ", "").isalnum())
    return tuple(upright[name] for name in dict.fromkeys((*_PREFERRED, *noto)) if name in upright)


def _file_of(entry: FontEntry) -> str:
    return font_manager.findfont(FontProperties(family=entry.name), fallback_to_default=False)


def _face(path: str) -> int:
    """Return the index of a font in a file of several."""
    return int(getattr(path, "face_index", 0))


@cache
def _coverage(path: str) -> frozenset[int]:
    """Code points of a font."""
    with TTFont(path, lazy=True, fontNumber=_face(path)) as font:
        return frozenset(font.getBestCmap())
