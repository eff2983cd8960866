"""Small views of results, as a notebook asks for them: text, table and figure."""

from __future__ import annotations

import base64
import io
from html import escape

from viz_app.figures import MIME_TYPES, Figure, export
from viz_app.figures.record import xml_safe
from viz_app.notebook.views import ResultView, view_of
from viz_app.text import texts

MAX_BYTES = 50_000  # of a figure that shows itself
_DPI = (120, 80, 40)


def mimebundle(result: object, language: str = "en") -> dict[str, str]:
    """Return a table and a figure of at most 50 kB by their MIME types; empty for what has no view.

    HTML has both, for notebooks that are not trusted: it has no script, and the figure is an image. The figure by
    itself is for viewers without HTML.
    """
    try:
        view = view_of(result, language)
    except TypeError:
        return {}
    picture = _small(view.figure)
    if picture is None:
        return {"text/html": _table(view) + f"<p>{escape(texts(language)('notebook.too_large'))}</p>"}
    format, data = picture
    packed = base64.b64encode(data).decode()
    image = f'<img alt="{_text(view.figure.alt)}" src="data:{MIME_TYPES[format]};base64,{packed}">'
    alone = data.decode() if format == "svg" else packed
    return {"text/html": _table(view) + image, MIME_TYPES[format]: alone}


def _small(figure: Figure) -> tuple[str, bytes] | None:
    """Return the first file that is small enough, with its format: the drawing, or its pixels in 64 colours."""
    from PIL import Image

    if len(data := export(figure, "svg")) <= MAX_BYTES:
        return "svg", data
    for dpi in _DPI:
        pixels = io.BytesIO()
        Image.open(io.BytesIO(export(figure, "png", dpi=dpi))).quantize(64).save(pixels, "png", optimize=True)
        if len(pixels.getvalue()) <= MAX_BYTES:
            return "png", pixels.getvalue()
    return None


def _table(view: ResultView) -> str:
    head = "".join(f"<th>{_text(title)}</th>" for title in view.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>" for row in view.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _text(text: str) -> str:
    return escape(xml_safe(text))
