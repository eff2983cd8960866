"""Figures of every kind to test with, and what can be read from their files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pypdf
from PIL import Image

from tests.atlas_samples import drawn_atlas
from transformer_core.attention_maps import AttentionMaps, Kind
from transformer_core.decoding.beam import Node
from viz_app.figures import (
    VIEWS,
    CurvesFigure,
    Figure,
    Flows,
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
from viz_app.figures.model.flow import MadeToken, Stack, Way, WayGraph
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


def flows(maps: AttentionMaps) -> Flows:
    """Flows of random numbers, of which each token's parts sum to its logit."""
    layers, sizes = maps.layers("encoder"), {"encoder": len(maps.source), "decoder": len(maps.inputs)}

    def made(position: int, against: str | None, share: int | None) -> MadeToken:
        random = np.random.default_rng(position)
        source, inputs = (random.normal(0, 5, n).astype(np.float32) for n in (sizes["encoder"], position + 1))
        ends: tuple[tuple[Kind, int, int], ...] = (
            ("encoder", sizes["encoder"], sizes["encoder"]),
            ("decoder", position + 1, position + 1),
            ("cross", position + 1, sizes["encoder"]),
        )
        ways = [
            Way(kind, layer, query, key, float(random.normal()))
            for kind, queries, keys in ends
            for layer, query, key in np.ndindex(layers, queries, keys)
            if kind != "decoder" or key <= query
        ]
        ways.sort(key=lambda way: -abs(way.flow))
        kept = ways[: len(ways) * (share or 0) // 100]
        columns: dict[Stack, int] = {"encoder": sizes["encoder"], "decoder": position + 1}
        graph = WayGraph(
            ways=kept,
            share=0.8,
            count=len(ways),
            states={stack: random.normal(0, 3, (layers + 1, n)).astype(np.float32) for stack, n in columns.items()},
            residuals={stack: random.normal(0, 3, (layers, n)).astype(np.float32) for stack, n in columns.items()},
        )
        return MadeToken(
            position=position,
            logit=float(source.sum() + inputs.sum()) - 7.5,
            source=source,
            inputs=inputs,
            biases=-7.5,
            against=against,
            graph=None if share is None else graph,
        )

    def compute(positions: Sequence[int], against: str | None, share: int | None) -> list[MadeToken]:
        return [made(position, against, share) for position in positions]

    return Flows(maps.source.tokens, maps.outputs.tokens, compute)


def every_figure(maps: AttentionMaps, search: Search, **shared: Any) -> dict[str, Figure]:
    given: dict[str, dict[str, Any]] = {"compare": {"other_head": 1}, "lines": {"heads": (0, 1), "query": 1}}
    material = {"maps": maps, "search": search, "parse": parser_output(), "flows": flows(maps), "atlas": drawn_atlas()}
    unfolded = VIEWS["flow"].draw(**material, word=1, against="x", unfold=True, **shared)
    views = {name: view.draw(kind="cross", **material, **given.get(name, {}), **shared) for name, view in VIEWS.items()}
    return {**views, "unfolded": unfolded, "curves": curves(), "matrix": matrix(), "named_matrix": named_matrix()}


def pdf_text(data: bytes) -> str:
    return pypdf.PdfReader(io.BytesIO(data)).pages[0].extract_text()


def table_of(figure: Figure) -> list[dict[str, str]]:
    """The rows of its CSV."""
    return list(csv.DictReader(io.StringIO(export(figure, "csv").decode("utf-8-sig"), newline="")))


def arrays_of(figure: Figure) -> Any:
    """The arrays of its NPZ, by name."""
    return np.load(io.BytesIO(export(figure, "npz")), allow_pickle=False)


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
