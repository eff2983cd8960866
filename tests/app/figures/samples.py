"""Figures of every kind to test with, and what can be read from their files."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pypdf
from PIL import Image

from tests.atlas_samples import drawn_atlas
from transformer_core.attention_maps import AttentionMaps
from transformer_core.decoding.beam import Node
from viz_app.figures import (
    VIEWS,
    CurvesFigure,
    Figure,
    HeatmapFigure,
    MatrixFigure,
    ParserOutput,
    Request,
    Search,
    Series,
    Style,
    export,
)
from viz_app.figures.build import heads as build
from viz_app.figures.model.arrays import Maps
from viz_app.figures.mpl import heatmaps, renderer
from viz_app.figures.options import AnyKind


def one_head(maps: Maps, kind: AnyKind, layer: int, head: int, **options: Any) -> HeatmapFigure:
    return build.one_head(Request(maps=maps, kind=kind, layer=layer, head=head, **options))


def layer_heads(maps: Maps, kind: AnyKind, layer: int, **options: Any) -> HeatmapFigure:
    return build.layer_heads(Request(maps=maps, kind=kind, layer=layer, **options))


def all_heads(maps: Maps, kind: AnyKind, **options: Any) -> HeatmapFigure:
    return build.all_heads(Request(maps=maps, kind=kind, **options))


def drawn(view: str, **options: Any) -> Any:
    """A figure of a view."""
    return VIEWS[view].draw(**options)


TOKENS = ("\u2581Der", "\u2581Hund", "\u2581Die", "</s>", "<script>alert(1)</script>", "\u2581한국어")


def node(parent: int, step: int, token: int, total: float, status: str) -> Node:
    return Node(parent, step, token, total, total, status, ())  # type: ignore[arg-type]


def curves(**changes: Any) -> CurvesFigure:
    x = np.arange(1, 101, dtype=float)
    series = [Series(x=x, y=1 / x, label="1/x <b>"), Series(x=x, y=np.sqrt(x), label="뿌리", dashed=True)]
    return CurvesFigure(**{"series": series, "x_title": "step", "y_title": "rate_$x$", "title": "학습률", **changes})


def matrix(**changes: Any) -> MatrixFigure:
    values = np.sin(np.arange(20)[:, None] / np.arange(1, 31))
    titles = {"row_title": "position", "column_title": "차원", "scale_title": "value", "title": "Positions"}
    return MatrixFigure(**{"values": values, "diverging": True, **titles, **changes})


def named_matrix(**changes: Any) -> MatrixFigure:
    names = {"row_labels": ["▁<b>Hund", "=1+1", "$x$_1%"], "column_labels": ["층 1", "&amp;"]}
    return matrix(**{"values": [[0.5, -1.0], [0.25, 2.0], [-0.125, 0.0]], **names, **changes})


def parser_output() -> ParserOutput:
    """The tree of The dog bit one man. as a parser writes it; the later a token, the less probable it is."""
    symbols = ["(S", "(NP", "XX", "XX", ")NP", "(VP", "XX", "(NP", "XX", "XX", ")NP", ")VP", ")S"]
    words = ("The", "dog", "bit", "one", "man.")
    return ParserOutput(words, symbols, [-0.01 * (i + 1) for i in range(len(symbols))], (0, 1, 2, 3, 4, 4))


def every_figure(maps: AttentionMaps, search: Search, **shared: Any) -> dict[str, Figure]:
    given: dict[str, dict[str, Any]] = {"compare": {"other_head": 1}, "lines": {"heads": (0, 1), "query": 1}}
    material = {"maps": maps, "search": search, "parse": parser_output(), "atlas": drawn_atlas()}
    views = {name: view.draw(kind="cross", **material, **given.get(name, {}), **shared) for name, view in VIEWS.items()}
    return {**views, "curves": curves(), "matrix": matrix(), "named_matrix": named_matrix()}


def pdf_text(data: bytes) -> str:
    return pypdf.PdfReader(io.BytesIO(data)).pages[0].extract_text()


def pixels_of(figure: HeatmapFigure, style: Style, panel: int = 0) -> np.ndarray:
    """Colours at the centres of a panel's cells in the PNG."""
    data = np.asarray(Image.open(io.BytesIO(export(figure, "png", style, dpi=144))).convert("RGB"))
    with renderer.drawing_settings():
        layout = heatmaps.plan(figure, style)
    left, top = layout.panels[panel]
    rows, columns = figure.panels[panel].weights.shape
    ys = (2 * (top + (np.arange(rows) + 0.5) * layout.cell)).astype(int)
    xs = (2 * (left + (np.arange(columns) + 0.5) * layout.cell)).astype(int)
    return np.asarray(data[np.ix_(ys, xs)])
