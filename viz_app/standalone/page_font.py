"""Fonts of pages without a server, as WOFF2: letters of a language from Pretendard, and signs of formulas."""

from __future__ import annotations

import base64
import io
from functools import cache
from pathlib import Path

from viz_app.text import LANGUAGE_NAMES

FONTS = Path(__file__).parents[1] / "static" / "fonts"
_FAMILY = "Headlight Sans"  # not "Pretendard": that name is reserved for the unmodified font
_FEATURES = ("kern", "tnum")  # the pages set numbers in columns
# Latin, general punctuation, arrows and mathematical operators: what somebody types, and what the drawings write.
_ALWAYS = (*range(0x20, 0x180), *range(0x2010, 0x2070), *range(0x2190, 0x2300))
# Of formulas: Latin and Greek, also bold and italic, punctuation, operators, and some letter-like symbols.
_MATHEMATICAL = (
    *(*range(0x20, 0x100), *range(0x391, 0x3F7), *range(0x2010, 0x2065), *range(0x2190, 0x2300)),
    *(*range(0x1D400, 0x1D468), *range(0x1D6A8, 0x1D720), *map(ord, "ℎℓℒℝ⟨⟩")),
)


@cache
def math_style() -> str:
    """Return a rule with the font of equations, and its licence."""
    letters = _subset({*map(chr, _MATHEMATICAL)}, _truetype("STIXTwoMath.woff2"))
    return _rules("STIX-LICENSE.txt", 'font-family: "STIX Two Math"', letters)


@cache
def font_style(language: str, text: str = "") -> str:
    """Return rules with the font and its licence, and its use on the whole page.

    A character that it lacks comes from a font of the reader's computer. Takes some seconds the first time.

    Args:
        language: Its texts give the letters, such as "ko".
        text: Gives the letters instead.
    """
    letters = _subset({*map(chr, _ALWAYS), *(text or _texts(language))}, _unpacked(), _FEATURES)
    rules = _rules("LICENSE.txt", f'font-family: "{_FAMILY}"; font-weight: 45 930', letters)
    return f'{rules}:root {{ --st-font: "{_FAMILY}", Pretendard, sans-serif; }}\n'


def _rules(licence: str, face: str, data: bytes) -> str:
    text = (FONTS / licence).read_text(encoding="utf-8")
    source = base64.b64encode(data).decode()
    return f"/*\n{text}*/\n@font-face {{ {face}; src: url(data:font/woff2;base64,{source}) }}\n"


def _texts(language: str) -> str:
    """Return the labels, the terms and the words of the lessons, and the names of all languages."""
    app = Path(__file__).parents[1]
    files = [app / "text" / "terms.toml", *app.rglob(f"*{language}.toml"), *app.rglob(f"{language}.md")]
    return "".join([*LANGUAGE_NAMES.values(), *(file.read_text(encoding="utf-8") for file in files)])


def _subset(characters: set[str], font: bytes, features: tuple[str, ...] = ()) -> bytes:
    """Return a WOFF2 font with these characters of another, without names and hints, with these features or all."""
    import uharfbuzz as harfbuzz
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    subset = harfbuzz.SubsetInput()
    subset.flags = harfbuzz.SubsetFlags.NO_HINTING | harfbuzz.SubsetFlags.NOTDEF_OUTLINE
    subset.unicode_set.update(map(ord, characters))
    subset.name_id_set.clear()
    if features:
        subset.layout_feature_tag_set.clear()
        subset.layout_feature_tag_set.update(int.from_bytes(name.encode()) for name in features)
    few = subset.subset(harfbuzz.Face(harfbuzz.Blob(font))).blob.data
    packed = io.BytesIO()
    with TTFont(io.BytesIO(few), recalcTimestamp=False) as small:
        small.flavor = "woff2"
        small.save(packed)
    return packed.getvalue()


@cache
def _unpacked() -> bytes:
    return _truetype("PretendardVariable.woff2")


def _truetype(name: str) -> bytes:
    """Return a font as TrueType, since HarfBuzz reads no WOFF2."""
    from fontTools.ttLib import TTFont

    unpacked = io.BytesIO()
    with TTFont(FONTS / name, recalcTimestamp=False) as font:
        font.flavor = None
        font.save(unpacked)
    return unpacked.getvalue()
