"""A self-contained HTML document: only its own scripts and style run, by their hashes, and nothing is loaded."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Literal

from viz_app.figures.record import xml_safe

# Of a page: what its policy allows, nothing or what stands in it; code; and data from a size on at which files pay.
_ALLOWED = re.compile(r"-src(?: '(?:none|sha256-[^']+)')+|-src ?(?=;)|(?<=worker)-src")
_FONT = re.compile(r"data:font/woff2;base64,([\w+/=]+)")
_STYLE = re.compile(r"<style>(.*?)</style>", re.S)
_CODE = re.compile(r'(<script type="module")>(.*?)</script>', re.S)
_DATA = re.compile(r'(<script type="application/octet-stream" id="\w+")>([^<]{10000,})')
_SAFE = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&"})
PageTheme = Literal["auto", "light", "dark"]
_THEME = Path(__file__).parents[1] / ".streamlit" / "config.toml"


def html_document(
    title: str,
    *,
    style: str,
    body: str,
    scripts: Sequence[str],
    language: str = "en",
    head: str = "",
    type: str = "",
    allowed: Mapping[str, str] | None = None,
) -> str:
    """Return the document; the same arguments give the same text.

    Args:
        title: Its title, as plain text.
        style: Its rules.
        body: Its markup, without scripts that run and without styles in attributes, which the policy forbids.
        scripts: Its code, run in this order.
        language: Its language.
        head: Further elements of its head, behind the policy.
        type: Of the scripts, such as "module"; empty for classic ones.
        allowed: Further sources by directive of the policy, such as "worker-src".
    """
    allowed = dict(allowed or {})
    scripts = [script.replace("</script", "<\\/script").replace("<!--", "<\\!--") for script in scripts]
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join((*map(_hash, scripts), allowed.pop('script-src', '')))}".rstrip(),
            f"style-src {_hash(style)}",
            *(f"{directive} {sources}" for directive, sources in allowed.items()),
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    tag = f'<script type="{type}">' if type else "<script>"
    parts = [
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">{head}',
        f"<title>{escape(xml_safe(title))}</title>\n<style>{style}</style>\n</head>\n<body>",
        body,
        *(f"{tag}{script}</script>" for script in scripts),
        "</body>\n</html>\n",
    ]
    return "\n".join(parts)


def split_document(page: str, keep: Callable[[bytes, str], str]) -> str:
    """Return a document that loads style, fonts, code and large data from files of its own server, and from no other.

    Args:
        page: A document of `html_document`.
        keep: Keeps a file with an ending such as ".js", and returns its address.
    """

    def linked(style: str) -> str:
        """Return links to a style and to its first font, which is fetched beside it, so that no line moves."""
        fonts = [keep(base64.b64decode(font), ".woff2") for font in _FONT.findall(style)]
        names = iter(fonts)
        style = _FONT.sub(lambda _: f'"{Path(next(names)).name}"', style)
        first = [f'<link rel="preload" href="{font}" as="font" type="font/woff2" crossorigin>' for font in fonts[:1]]
        return "".join([*first, f'<link rel="stylesheet" href="{keep(style.encode(), ".css")}">'])

    policy, end, rest = page.partition("<title>")
    rest = _STYLE.sub(lambda at: linked(at[1]), rest, count=1)
    rest = _CODE.sub(lambda at: f'{at[1]} src="{keep(at[2].encode(), ".js")}"></script>', rest)
    rest = _DATA.sub(lambda at: f'{at[1]} data-src="{keep(base64.b64decode(at[2]), ".bin")}">', rest)
    return _ALLOWED.sub("-src 'self'", policy) + end + rest


def json_element(name: str, value: Any) -> str:
    """Return a data block with JSON in ASCII; it holds no character that could end it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_SAFE)
    return f'<script type="application/json" id="{name}">{text}</script>'


def packed_element(name: str, data: bytes) -> str:
    """Return a data block with compressed bytes, which `readBytes` of packed.js reads."""
    text = base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()
    return f'<script type="application/octet-stream" id="{name}">{text}</script>'


@cache
def theme_style(theme: PageTheme = "auto") -> str:
    """Return the app's theme as variables of the components.

    Args:
        theme: "auto" is light, or dark where the reader's system is; `data-theme` of the root says otherwise.
    """
    table: dict[str, Any] = tomllib.loads(_THEME.read_text(encoding="utf-8"))["theme"]
    light, dark = (_variables(table | table[each]) for each in ("light", "dark"))
    if theme != "auto":
        return f":root {{ color-scheme: {theme}; {dark if theme == 'dark' else light} }}\n"
    dark = f"{{ color-scheme: dark; {dark} }}"
    system = f"@media (prefers-color-scheme: dark) {{ :root:where(:not([data-theme=light])) {dark} }}"
    return f":root {{ color-scheme: light; {light} }}\n{system}\n:root:where([data-theme=dark]) {dark}\n"


def _variables(theme: dict[str, Any]) -> str:
    names = {name: re.sub("[A-Z]", lambda capital: f"-{capital[0].lower()}", name) for name in theme}
    return " ".join(f"--st-{names[name]}: {value};" for name, value in theme.items() if isinstance(value, str))


def _hash(text: str) -> str:
    """Return the name of a script or style in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
