"""Lines, steps, comparisons, beam trees, curves and matrices: what they hold, and their files opened again."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tomllib
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pypdf
import pytest
from PIL import Image

from tests.app.figures.conftest import HOSTILE, make_maps
from transformer_core.attention_maps import AttentionMaps
from transformer_core.decoding.beam import Node
from viz_app.figures import (
    VIEWS,
    Animation,
    CurvesFigure,
    DifferencePanel,
    Figure,
    HeatmapFigure,
    LinesFigure,
    MatrixFigure,
    Search,
    Series,
    Style,
    TreeFigure,
    export,
    figure_again,
    file_name,
    formats_of,
    heatmap_drawing,
    to_plotly,
)
from viz_app.figures import matplotlib_renderer as renderer
from viz_app.figures.record import record
from viz_app.figures.scales import diverging, sequential

SVG = "{http://www.w3.org/2000/svg}"
PIECES = ("\u2581Der", "\u2581Hund", "\u2581Die", "</s>", "<script>alert(1)</script>", "\u2581한국어")


def node(parent: int, step: int, piece: int, total: float, status: str) -> Node:
    return Node(parent, step, piece, total, total, status, ())  # type: ignore[arg-type]


@pytest.fixture
def search() -> Search:
    """Two beams, three steps; the second one wins."""
    history = (
        node(-1, 1, 0, -0.1, "kept"),
        node(-1, 1, 2, -0.3, "kept"),
        node(-1, 1, 4, -3.0, "pruned"),
        node(0, 2, 1, -0.5, "kept"),
        node(1, 2, 5, -0.6, "kept"),
        node(0, 2, 4, -4.0, "pruned"),
        node(4, 3, 3, -0.7, "finished"),
        node(3, 3, 3, -0.9, "finished"),
    )
    return Search(history, best=6, text="Die 한국어", score=-0.35, piece=PIECES.__getitem__)


@pytest.fixture
def small() -> AttentionMaps:
    """One layer of two heads: files of every kind are made quickly."""
    source, output = ("\u2581the", "\u2581dog", "\u2581barks"), ("\u2581der", "\u2581Hund", "\u2581bellt")
    return make_maps(source, output, layers=1, heads=2)


def curves(**changes: Any) -> CurvesFigure:
    x = np.arange(1, 101, dtype=float)
    series = [Series(x=x, y=1 / x, label="1/x <b>"), Series(x=x, y=np.sqrt(x), label="뿌리", dashed=True)]
    return CurvesFigure(**{"series": series, "x_title": "step", "y_title": "rate_$x$", "title": "학습률", **changes})


def matrix(**changes: Any) -> MatrixFigure:
    values = np.sin(np.arange(20)[:, None] / np.arange(1, 31))
    titles = {"row_title": "position", "column_title": "차원", "scale_title": "value", "title": "Positions"}
    return MatrixFigure(**{"values": values, "two_ends": True, **titles, **changes})


def every_figure(maps: AttentionMaps, search: Search, **shared: Any) -> dict[str, Figure]:
    given: dict[str, dict[str, Any]] = {"compare": {"other_head": 1}, "lines": {"heads": (0, 1), "query": 1}}
    views = {
        name: view.figure(maps=maps, kind="cross", search=search, **given.get(name, {}), **shared)
        for name, view in VIEWS.items()
    }
    return {**views, "curves": curves(), "matrix": matrix()}


def pdf_text(data: bytes) -> str:
    return pypdf.PdfReader(io.BytesIO(data)).pages[0].extract_text()


# What the figures hold


def test_lines_have_the_weights_of_their_heads(maps: AttentionMaps) -> None:
    figure = VIEWS["lines"].figure(maps=maps, kind="cross", layer=2, heads=(1, 4), query=3)
    assert isinstance(figure, LinesFigure)
    links = figure.links()
    expected = {(i, 3, k): maps.cross[2, h, 3, k] for i, h in enumerate((1, 4)) for k in range(7)}
    assert {link[:3]: np.float32(link[3]) for link in links} == {p: w for p, w in expected.items() if w >= 0.01}
    assert [link[3] for link in links] == sorted(link[3] for link in links)
    assert len(set(figure.colours)) == 2
    assert "biss" in figure.caption


def test_lines_of_one_head_and_all_queries(maps: AttentionMaps) -> None:
    figure = VIEWS["lines"].figure(maps=maps, kind="encoder", layer=0, head=2)
    assert isinstance(figure, LinesFigure)
    assert len({row for _, row, _, _ in figure.links()}) == 7
    assert file_name(figure, "pdf") == "headlight_encoder_layer1_head3_lines.pdf"


def test_steps_stand_at_the_same_places(maps: AttentionMaps) -> None:
    figure = VIEWS["steps"].figure(maps=maps, kind="decoder", layer=1, head=1, steps=(2, 5, 8))
    assert isinstance(figure, HeatmapFigure)
    assert [panel.weights.shape for panel in figure.panels] == [(2, 2), (5, 5), (8, 8)]
    for panel, step in zip(figure.panels, (2, 5, 8), strict=True):
        np.testing.assert_array_equal(panel.weights, maps.decoder[1, 1, :step, :step])
    with renderer.drawing_settings():
        layout = heatmap_drawing.plan(figure, Style())
    assert len({top for _, top in layout.panels}) == 1
    assert layout.slot == (8 * layout.cell, 8 * layout.cell)
    four = VIEWS["steps"].figure(maps=maps, kind="cross")
    assert isinstance(four, HeatmapFigure)
    assert [len(panel.weights) for panel in four.panels] == [2, 4, 6, 8]


def test_all_kinds_are_one_table(maps: AttentionMaps) -> None:
    figure = VIEWS["all"].figure(maps=maps)
    assert isinstance(figure, HeatmapFigure)
    assert (len(figure.panels), figure.columns, figure.rows) == (144, 8, 18)
    assert [panel.kind for panel in figure.panels[::48]] == ["encoder", "decoder", "cross"]
    np.testing.assert_array_equal(figure.panels[48 + 13].weights, maps.decoder[1, 5])
    assert figure.panels[48].masked is not None
    assert [count for _, count in figure.row_groups] == [6, 6, 6]
    assert figure.caption.startswith("All 144 heads: 48 of the encoder")


def test_a_comparison_is_b_minus_a(maps: AttentionMaps) -> None:
    figure = VIEWS["compare"].figure(maps=maps, kind="cross", layer=0, head=0, other_layer=3, other_head=2)
    assert isinstance(figure, HeatmapFigure)
    a, b, difference = figure.panels
    assert isinstance(difference, DifferencePanel)
    np.testing.assert_array_equal(difference.weights, b.weights - a.weights)
    np.testing.assert_array_equal(b.weights, maps.cross[3, 2])
    row, column = np.unravel_index(np.abs(difference.weights).argmax(), difference.weights.shape)
    points = round(abs(float(difference.weights[row, column])) * 100)
    assert f"{points} percentage points" in figure.caption


def test_different_tokens_have_no_difference_unless_aligned() -> None:
    one = make_maps(("\u2581the", "\u2581dog", "\u2581barks"), ("\u2581der",), layers=1, heads=1)
    two = make_maps(("\u2581the", "\u2581old", "\u2581dog", "\u2581barks"), ("\u2581der",), layers=1, heads=1, seed=1)
    apart = VIEWS["compare"].figure(maps=one, other=two, kind="encoder")
    assert isinstance(apart, HeatmapFigure)
    assert len(apart.panels) == 2
    assert "no difference" in apart.caption
    aligned = VIEWS["compare"].figure(maps=one, other=two, kind="encoder", aligned=True)
    assert isinstance(aligned, HeatmapFigure)
    difference = aligned.panels[2]
    assert difference.key_labels == ("\u2581the", "\u2581dog", "\u2581barks", "</s>")
    kept = [0, 2, 3, 4]
    np.testing.assert_array_equal(difference.weights, two.encoder[0, 0][np.ix_(kept, kept)] - one.encoder[0, 0])


def test_a_beam_tree_has_every_candidate_and_the_path_of_the_best(search: Search) -> None:
    figure = VIEWS["beam"].figure(search=search)
    assert isinstance(figure, TreeFigure)
    assert [n.parent for n in figure.nodes] == [-1, -1, -1, 0, 1, 0, 4, 3]
    assert [i for i, n in enumerate(figure.nodes) if n.best] == [1, 4, 6]
    assert figure.ranks() == (0, 1, 2, 0, 1, 2, 0, 1)
    assert "weighed 8 candidates in 3 steps and kept 6" in figure.caption
    kept = VIEWS["beam"].figure(search=search, pruned=False, step=2)
    assert isinstance(kept, TreeFigure)
    assert [(n.label, n.parent) for n in kept.nodes] == [
        (PIECES[0], -1),
        (PIECES[2], -1),
        (PIECES[1], 0),
        (PIECES[5], 1),
    ]


def test_a_decoding_has_a_frame_for_each_piece(maps: AttentionMaps) -> None:
    figure = VIEWS["decoding"].figure(maps=maps, kind="cross", layer=1, head=1)
    assert isinstance(figure, Animation)
    assert [len(frame.panels[0].weights) for frame in figure.frames] == list(range(1, 9))
    assert formats_of(figure) == ("gif", "csv", "npz", "json")
    with pytest.raises(ValueError, match="format is 'pdf', but must be one of gif, csv, npz, json"):
        export(figure, "pdf")


@pytest.mark.parametrize(
    ("view", "parameters", "message"),
    [
        ("lines", {"heads": (1, 1)}, r"heads are \[1, 1\], but must be one or more different heads"),
        ("lines", {"heads": (9,)}, "head is 9, but must be between 0 and 7"),
        ("lines", {"query": 8}, "query is 8, but must be between 0 and 7"),
        ("steps", {"steps": (3, 2)}, "must rise"),
        ("steps", {"steps": (9,)}, "step is 9, but must be between 1 and 8"),
        ("compare", {"other_layer": 6}, "layer is 6, but must be between 0 and 5"),
        ("head", {"kind": "own"}, "one of encoder, decoder, cross"),
        ("head", {"colour": 1}, "parameter 'colour' of a view does not exist; allowed are maps, kind"),
        ("beam", {}, "search is missing"),
    ],
)
def test_views_check_their_parameters(maps: AttentionMaps, view: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VIEWS[view].figure(maps=maps, **parameters)


@pytest.mark.parametrize("name", VIEWS)
def test_a_views_record_makes_the_figure_again(maps: AttentionMaps, search: Search, name: str) -> None:
    given = {"layer": 2, "head": 3, "unit": "words", "language": "ko", "other_head": 1, "heads": (3, 4)}
    first = VIEWS[name].figure(maps=maps, kind="decoder", search=search, **given)
    record = json.loads(json.dumps(first.provenance["view"]))
    again = figure_again(record, maps=maps, search=search)
    assert export(again, "json") == export(first, "json")
    assert again.name == first.name


# Their files


def test_every_figure_has_every_format_twice_the_same(small: AttentionMaps, search: Search) -> None:
    figures, again = (every_figure(small, search) for _ in range(2))
    style = Style(preset="acl-page", letters=True, caption=True)
    for name, figure in figures.items():
        for format in formats_of(figure):
            if name in ("layer", "heads", "all", "steps") and format in ("png", "html", "svg"):
                continue  # the same code as for one head
            if format == "html" and name not in ("compare", "lines"):
                continue
            assert export(figure, format, style, dpi=60) == export(again[name], format, style, dpi=60), (name, format)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_pdfs_have_text_in_embedded_fonts(small: AttentionMaps, search: Search, language: str) -> None:
    for name, figure in every_figure(small, search, language=language).items():
        if name in ("decoding", "heads", "layer"):
            continue
        reader = pypdf.PdfReader(io.BytesIO(export(figure, "pdf", Style(preset="a4", caption=True))))
        text = "".join(reader.pages[0].extract_text().split())
        assert "".join(figure.title.split()) in text, name
        if figure.caption:
            assert "".join(figure.caption.split()) in text, name
        fonts = [font.get_object() for font in reader.pages[0]["/Resources"]["/Font"].values()]  # type: ignore[index]
        assert all("/FontFile2" in f["/DescendantFonts"][0].get_object()["/FontDescriptor"] for f in fonts)
        assert float(reader.pages[0].mediabox.width) == pytest.approx(180 / 25.4 * 72, abs=0.1)


def test_hostile_tokens_are_text_in_svg_and_html(hostile: AttentionMaps) -> None:
    search = Search((node(-1, 1, 0, -0.1, "finished"),), 0, HOSTILE[0], -0.1, HOSTILE.__getitem__)
    figures = every_figure(hostile, search)
    for name in ("head", "lines", "beam", "compare"):
        figure = figures[name]
        root = ElementTree.fromstring(export(figure, "svg", Style(caption=True)))
        tags = {element.tag.rsplit("}")[-1].lower() for element in root.iter()}
        assert not tags & {"script", "img", "b", "foreignobject", "a"}, name
        page = export(figure, "html").decode()
        assert "<img src=x" not in page, name
        assert "</script><img" not in page, name


def test_lines_and_trees_show_their_tokens(hostile: AttentionMaps, search: Search) -> None:
    lines = export(VIEWS["lines"].figure(maps=hostile, kind="cross"), "svg")
    texts = ["".join(e.itertext()) for e in ElementTree.fromstring(lines).iter(f"{SVG}text")]
    assert texts.count("<s>") == 2  # once on each side
    tree = pdf_text(export(VIEWS["beam"].figure(search=search, language="ko"), "pdf"))
    for text in ("<script>alert(1\u2026", "한국어", "\u22120.70", "선택된 번역", "탈락"):
        assert text in tree


def test_curves_and_matrices_write_numbers_as_text(maps: AttentionMaps) -> None:
    text = pdf_text(export(curves(y_log=True, x_log=True), "pdf"))
    for word in ("학습률", "1/x <b>", "뿌리", "rate_$x$", "100", "0.01"):
        assert word in text
    words = pdf_text(export(matrix(), "pdf"))
    for word in ("Positions", "차원", "position", "\u22121"):
        assert word in words


@pytest.mark.parametrize("options", [{"scale": "viridis"}, {"mapping": "sqrt"}, {"value_range": (0, 0.5)}])
def test_png_pixels_follow_the_style(hand_made: AttentionMaps, options: dict[str, Any]) -> None:
    figure, style = VIEWS["head"].figure(maps=hand_made, kind="cross"), Style(**options)
    assert isinstance(figure, HeatmapFigure)
    weights = figure.panels[0].weights.astype(float)
    high = options.get("value_range", (0, 1))[1]
    share = np.minimum(weights / high, 1)
    places = np.rint((np.sqrt(share) if "mapping" in options else share) * 255).astype(int)
    np.testing.assert_array_equal(
        pixels_of(figure, style), sequential(options.get("scale", "headlight"), "light")[places]
    )


def pixels_of(figure: HeatmapFigure, style: Style, panel: int = 0) -> np.ndarray:
    """Colours at the centres of a panel's cells in the PNG."""
    data = np.asarray(Image.open(io.BytesIO(export(figure, "png", style, dpi=144))).convert("RGB"))
    with renderer.drawing_settings():
        layout = heatmap_drawing.plan(figure, style)
    left, top = layout.panels[panel]
    rows, columns = figure.panels[panel].weights.shape
    ys = (2 * (top + (np.arange(rows) + 0.5) * layout.cell)).astype(int)
    xs = (2 * (left + (np.arange(columns) + 0.5) * layout.cell)).astype(int)
    return np.asarray(data[np.ix_(ys, xs)])


def test_differences_have_their_own_scale_on_paper_and_on_screen(hand_made: AttentionMaps) -> None:
    figure = VIEWS["compare"].figure(maps=hand_made, kind="cross", head=0, other_head=1)
    assert isinstance(figure, HeatmapFigure)
    difference = figure.panels[2].weights.astype(float)  # the largest is -0.76: the scale ends at 0.8
    assert np.abs(difference).max() == pytest.approx(0.76, abs=1e-6)
    places = np.rint((difference / 0.8 + 1) / 2 * 256).astype(int)
    np.testing.assert_array_equal(pixels_of(figure, Style(), panel=2), diverging("light")[places])
    trace = to_plotly(figure).data[2]
    assert (trace.zmin, trace.zmax) == (-0.8, 0.8)
    assert trace.colorscale[128][1] == "#ffffff"
    assert [shown.showscale for shown in to_plotly(figure).data] == [True, False, True]


def test_plotly_takes_range_and_root_from_the_style(hand_made: AttentionMaps) -> None:
    figure = VIEWS["head"].figure(maps=hand_made, kind="cross")
    trace = to_plotly(figure, Style(mapping="sqrt", value_range=(0, 0.5), legend=False)).data[0]
    assert (trace.zmin, trace.zmax, trace.showscale) == (0, 0.5, False)
    np.testing.assert_allclose([place for place, _ in trace.colorscale], (np.arange(256) / 255) ** 2, atol=1e-12)
    assert to_plotly(figure, Style(title=False)).layout.title.text == ""


def test_csv_and_npz_of_other_kinds_are_exact(maps: AttentionMaps, search: Search) -> None:
    lines = VIEWS["lines"].figure(maps=maps, kind="cross", layer=2, heads=(1, 4))
    with np.load(io.BytesIO(export(lines, "npz")), allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["weights"], maps.cross[2, [1, 4]])
    tree = list(csv.DictReader(io.StringIO(export(VIEWS["beam"].figure(search=search), "csv").decode("utf-8-sig"))))
    assert [(row["piece"], float(row["log_probability"]), row["parent"]) for row in tree[-1:]] == [("</s>", -0.9, "4")]
    with np.load(io.BytesIO(export(curves(), "npz")), allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["y_1"], np.sqrt(np.arange(1, 101)))
    values = matrix().matrix
    table = list(csv.DictReader(io.StringIO(export(matrix(), "csv").decode("utf-8-sig"))))
    assert np.array_equal([float(row["value"]) for row in table], values.ravel())
    told = json.loads(export(matrix(), "json"))
    assert np.array_equal(told["values"], values)
    assert told["provenance"]["version"]


def test_a_gif_has_every_step_and_says_where_it_comes_from(small: AttentionMaps) -> None:
    animation = VIEWS["decoding"].figure(maps=small, kind="decoder", provenance={"sentence": "한국어"})
    picture: Any = Image.open(io.BytesIO(export(animation, "gif", dpi=60)))
    assert picture.n_frames == 4
    assert picture.info["loop"] == 0
    assert json.loads(picture.info["comment"])["sentence"] == "한국어"
    frames = []
    for number in range(picture.n_frames):
        picture.seek(number)
        frames.append(np.asarray(picture.convert("RGB")).copy())
    assert len({frame.shape for frame in frames}) == 1
    assert all((one != two).any() for one, two in pairwise(frames))


def test_the_record_tells_origin_version_scale_and_style(maps: AttentionMaps) -> None:
    figure = VIEWS["head"].figure(maps=maps, kind="cross", layer=3, head=5, provenance={"sentence": "한국어"})
    told = json.loads(json.dumps(record(figure, Style(mapping="sqrt", value_range=(0, 0.5)))))
    assert told["sentence"] == "한국어"
    assert told["scale"] == "sqrt, 0 to 0.5"
    assert Style.of(told["style"]) == Style(mapping="sqrt", value_range=(0, 0.5))
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
    assert told["version"] == project["project"]["version"]


def test_a_page_of_html_needs_no_network(maps: AttentionMaps) -> None:
    figure = VIEWS["head"].figure(maps=maps, kind="cross", language="ko", provenance={"sentence": '<b>&"'})
    page = export(figure, "html").decode()
    assert 'lang="ko"' in page
    assert "default-src 'none'" in page
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=", page)
    assert "@font-face" in page
    assert "&lt;b&gt;" in page


def test_sixteen_people_at_once_each_get_their_own_figure(maps: AttentionMaps, search: Search) -> None:
    figures = [VIEWS["head"].figure(maps=maps, layer=i % 6, head=i) for i in range(8)]
    figures += [VIEWS["lines"].figure(maps=maps, layer=i, head=i, query=i) for i in range(6)]
    figures += [VIEWS["beam"].figure(search=search), curves()]
    alone = [export(figure, "png", dpi=50) for figure in figures]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda figure: export(figure, "png", dpi=50), figures)) == alone
    assert len(set(alone)) == 16


def test_a_slide_is_filled_and_not_more(small: AttentionMaps, search: Search) -> None:
    for name in ("head", "layer", "lines", "steps", "beam"):
        figure = VIEWS[name].figure(maps=small, kind="cross", search=search)
        box = pypdf.PdfReader(io.BytesIO(export(figure, "pdf", Style(preset="slide")))).pages[0].mediabox
        assert (float(box.width), float(box.height)) == pytest.approx((254 / 25.4 * 72, 143 / 25.4 * 72), abs=0.2), name


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Series(x=[1, 2], y=[1]), "both must be one row of equally many numbers"),
        (lambda: Series(x=[1, math.inf], y=[1, 2]), "x that is not a finite number"),
        (lambda: curves(series=[]), "at least one series"),
        (
            lambda: curves(series=[Series(x=[0, 1], y=[1, 2], label="a")], x_log=True),
            "'a' has a x that is not positive",
        ),
        (lambda: matrix(values=[1, 2]), r"shape \(2,\), but must be \(rows, columns\)"),
        (lambda: matrix(values=[[1, math.nan]]), "row 0 of the values"),
    ],
)
def test_charts_check_what_they_are_given(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
