"""Provenance of a figure, as it is written into every file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from transformer_core import __version__
from viz_app.figures.colours.scales import weights_map
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.figure import DifferencePanel, Figure, HeatmapFigure
from viz_app.figures.model.lines import LinesFigure
from viz_app.figures.model.style import Style
from viz_app.figures.options import named

PROGRAM = "Headlight"
# What XML 1.0 does not allow.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def provenance_record(figure: Figure, style: Style | None = None) -> dict[str, Any]:
    """Return program, version, origin of the figure, and its style where that matters: in files without numbers."""
    record: dict[str, Any] = {"program": PROGRAM, "version": __version__, **figure.provenance}
    if "view" in record:
        record["view"] = named(record["view"])
    if style is None:
        return record
    if isinstance(figure, HeatmapFigure | LinesFigure):
        weights = [panel.weights for panel in figure.panels if not isinstance(panel, DifferencePanel)]
        record["scale"] = weights_map(weights, style, figure.theme).describe()
    if isinstance(figure, ConstituencyFigure) and figure.is_tinted:
        record["scale"] = figure.color_map(style).describe()
    if style != Style():
        record["style"] = style.as_dict()
    return record


def provenance_json(figure: Figure, style: Style | None = None) -> str:
    """Return the record as one line of JSON that XML and PDF can hold; characters they forbid are escaped."""
    return record_json(provenance_record(figure, style))


def record_json(record: Mapping[str, Any]) -> str:
    """Return a record as `provenance_json` does."""
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, default=str)
    return _FORBIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def xml_safe(text: str) -> str:
    """Return a text without the characters that XML forbids."""
    return _FORBIDDEN.sub("\ufffd", text)
