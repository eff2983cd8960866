"""A figure as one HTML file that needs no network: Plotly's program, the fonts of its characters and the data inside.

The page may not load anything (Content-Security-Policy), so that a file that is passed on cannot tell about its reader.
"""

from __future__ import annotations

from html import escape
from typing import Any

import plotly.io

from viz_app.figures import fonts
from viz_app.figures.colours.palette import BACKGROUND, INK
from viz_app.figures.model.figure import Figure
from viz_app.figures.model.style import Style
from viz_app.figures.mpl.renderer import drawing_settings
from viz_app.figures.plotly.renderer import to_plotly
from viz_app.figures.record import provenance_json, xml_safe

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)


def to_html(figure: Figure, style: Style) -> bytes:
    """The page; the same figure and style give the same bytes."""
    drawn = to_plotly(figure, style)
    used = "".join(sorted(set(_texts(drawn.to_plotly_json())) | set(figure.caption) | _DIGITS))
    with drawing_settings():
        faces = fonts.font_face_css(used)
        families = ", ".join([*(f"'{name}'" for name in fonts.families_for(used)), "sans-serif"])
    drawn.update_layout(font_family=families)
    theme = style.theme or figure.theme
    body: str = plotly.io.to_html(
        drawn,
        include_plotlyjs=True,
        full_html=False,
        div_id="figure",
        config={"displaylogo": False, "responsive": True, "toImageButtonOptions": {"format": "svg"}},
    )
    title = escape(xml_safe(figure.title or figure.name))
    caption = escape(xml_safe(figure.caption))
    page = f"""<!DOCTYPE html>
<html lang="{figure.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Headlight">
<meta name="description" content="{escape(xml_safe(figure.alt))}">
<meta name="provenance" content="{escape(provenance_json(figure, style))}">
<title>{title}</title>
<style>{faces}
body {{ margin: 1rem; background: {BACKGROUND[theme]}; color: {INK[theme]}; }}
body {{ font-family: '{fonts.FAMILY}', sans-serif; }}
figure {{ margin: 0; }}
figcaption {{ text-align: center; }}
</style>
</head>
<body>
<figure aria-label="{escape(xml_safe(figure.alt))}">
{body}
<figcaption>{caption}</figcaption>
</figure>
</body>
</html>
"""
    return page.encode("utf-8", errors="replace")


_DIGITS = set("0123456789.,+-\u2212\u00d7eE%()/kM\u00b5\u03bc ")


def _texts(value: Any) -> str:
    """All texts within a figure, one after the other."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "".join(_texts(each) for each in value.values())
    if isinstance(value, list | tuple):
        return "".join(_texts(each) for each in value)
    return ""
