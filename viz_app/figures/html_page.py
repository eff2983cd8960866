"""A figure as one HTML file that needs no network: fonts, drawing and numbers are inside.

Heatmaps and curves are Plotly's, which tells each number under the pointer. Every other kind is the SVG with a table of
its numbers. The page may not load anything (Content-Security-Policy), so a file that is passed on cannot track readers.
"""

from __future__ import annotations

import csv
import io
from html import escape
from typing import Any

from viz_app.figures import fonts
from viz_app.figures.colours.palette import BACKGROUND, INK
from viz_app.figures.data_renderer import to_csv
from viz_app.figures.model.charts import CurvesFigure
from viz_app.figures.model.figure import Figure, HeatmapFigure
from viz_app.figures.model.style import Style
from viz_app.figures.mpl import renderer as mpl
from viz_app.figures.record import provenance_json, xml_safe
from viz_app.text import texts

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)


def to_html(figure: Figure, style: Style) -> bytes:
    """Return the page; the same figure and style give the same bytes."""
    if isinstance(figure, HeatmapFigure | CurvesFigure):
        faces, body = _plotly(figure, style)
        return _page(figure, style, faces, body, figure.caption)
    svg = mpl.render(figure, "svg", style).decode()
    faces = "svg{max-width:100%;height:auto} td,th{padding:0 .6em;text-align:left} table{border-collapse:collapse}"
    body = svg[svg.index("<svg") :] + _table(figure)
    return _page(figure, style, faces, body, "" if style.caption else figure.caption)


def _plotly(figure: Figure, style: Style) -> tuple[str, str]:
    """Return the fonts and the element of Plotly's chart."""
    import plotly.io

    from viz_app.figures.plotly.renderer import to_plotly

    drawn = to_plotly(figure, style)
    used = "".join(sorted(set(_texts(drawn.to_plotly_json())) | set(figure.caption) | _DIGITS))
    with mpl.drawing_settings():
        faces = fonts.font_face_css(used)
        families = ", ".join([*(f"'{name}'" for name in fonts.families_for(used)), "sans-serif"])
    drawn.update_layout(font_family=families)
    body: str = plotly.io.to_html(
        drawn,
        include_plotlyjs=True,
        full_html=False,
        div_id="figure",
        config={"displaylogo": False, "responsive": True, "toImageButtonOptions": {"format": "svg"}},
    )
    return faces, body


def _table(figure: Figure) -> str:
    """Return the numbers of the figure, as its CSV has them."""
    header, *rows = csv.reader(io.StringIO(to_csv(figure).decode("utf-8-sig")))
    lines = ["".join(f"<td>{escape(xml_safe(cell))}</td>" for cell in row) for row in rows]
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "\n".join(f"<tr>{line}</tr>" for line in (head, *lines))
    return f"\n<details><summary>{texts(figure.language)('figures.numbers')}</summary>\n<table>{body}</table></details>"


def _page(figure: Figure, style: Style, faces: str, body: str, caption: str) -> bytes:
    theme = style.theme or figure.theme
    title = escape(xml_safe(figure.title or figure.name))
    caption = escape(xml_safe(caption))
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
    """Return all texts within a figure, one after the other."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "".join(_texts(each) for each in value.values())
    if isinstance(value, list | tuple):
        return "".join(_texts(each) for each in value)
    return ""
