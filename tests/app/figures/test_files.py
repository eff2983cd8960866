"""Files of figures, and the fingerprint in them."""

from __future__ import annotations

import base64
import dataclasses
import io
import json
import pickle
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pypdf
import pytest
from fontTools.pens.boundsPen import ControlBoundsPen  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from tests.app.figures.samples import every_figure, one_head, pdf_text
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import Figure, HeatmapFigure, HeatmapPanel, Search, Style, export
from viz_app.figures.colours.palette import THEMES, Theme, scale
from viz_app.figures.fingerprint import fingerprint
from viz_app.figures.fonts import SOURCE
from viz_app.figures.mpl import heatmaps, renderer

SVG = "{http://www.w3.org/2000/svg}"
PROVENANCE = {"checkpoint": "checkpoints/en-de", "sentence": "한국어 <b>&\x00 \ufffe", "command": "python -m viz_app"}


def texts_of_svg(data: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(data).iter(f"{SVG}text")]


def own(weights: np.ndarray, theme: Theme = "light", masked: np.ndarray | None = None) -> HeatmapFigure:
    rows, columns = weights.shape
    panel = HeatmapPanel(weights=weights, query_labels=["q"] * rows, key_labels=["k"] * columns, masked=masked)
    return HeatmapFigure(panels=[panel], query_title="query", key_title="key", theme=theme)


def cells(figure: HeatmapFigure) -> tuple[np.ndarray, np.ndarray]:
    """The PNG as an array (height, width, 3), and the pixel rows and columns of cell centres."""
    data = np.asarray(Image.open(io.BytesIO(export(figure, "png", dpi=144))).convert("RGB"))
    with renderer.drawing_settings():
        layout = heatmaps.plan(figure, Style())
    left, top = layout.panels[0]
    rows, columns = figure.panels[0].weights.shape
    ys = (top + (np.arange(rows) + 0.5) * layout.cell) * 2
    xs = (left + (np.arange(columns) + 0.5) * layout.cell) * 2
    return data, np.stack(np.meshgrid(ys, xs, indexing="ij")).astype(int)


@pytest.mark.parametrize("theme", THEMES)
def test_png_pixels_are_the_colors_of_the_scale(theme: Theme) -> None:
    weights = np.array([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0], [0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    data, (ys, xs) = cells(own(weights, theme))
    expected = scale(theme)[np.rint(weights * 255).astype(int)]
    np.testing.assert_array_equal(data[ys, xs], expected)
    assert tuple(data[0, 0]) == tuple(scale(theme)[0])


def test_masked_cells_are_hatched_and_zero_is_not() -> None:
    weights = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    weights[3] = [1, 0, 0, 0]
    masked = np.triu(np.ones((4, 4), dtype=bool), k=1)
    data, (ys, xs) = cells(own(weights, masked=masked))
    for row, column in np.ndindex(4, 4):
        y, x = ys[row, column], xs[row, column]
        patch = data[y - 9 : y + 10, x - 9 : x + 10].reshape(-1, 3)
        assert (len(np.unique(patch, axis=0)) > 1) == bool(masked[row, column]), (row, column)


def test_a_pdf_has_the_tokens_as_text_and_its_fonts_inside(maps: AttentionMaps) -> None:
    figure = one_head(maps, "cross", 3, 5, language="ko", provenance=PROVENANCE)
    reader = pypdf.PdfReader(io.BytesIO(export(figure, "pdf")))
    text = reader.pages[0].extract_text()
    for token in ("Der", "Hu", "nd", "einen", "dog", "</s>", "생성 토큰 (쿼리)", "어텐션 가중치", "cross.4.6 헤드"):
        assert token in text
    used = [font.get_object() for font in reader.pages[0]["/Resources"]["/Font"].values()]  # type: ignore[index]
    assert used
    for font in used:
        descriptor = font["/DescendantFonts"][0].get_object()["/FontDescriptor"]
        assert "/FontFile2" in descriptor  # TrueType, embedded
        assert "Pretendard" in font["/BaseFont"]
    assert reader.metadata is not None
    assert str(reader.metadata["/Title"]) == figure.title
    assert str(reader.metadata["/Subject"]) == figure.caption
    assert json.loads(str(reader.metadata["/Keywords"]))["sentence"] == PROVENANCE["sentence"]
    assert "/CreationDate" not in reader.metadata


def test_a_hostile_pdf_keeps_its_words(hostile: AttentionMaps) -> None:
    text = pdf_text(export(one_head(hostile, "cross", 0, 0), "pdf"))
    for token in ("</script><img s\u2026", "<s>", "$x$", "한국어", "%{z} {query}", "&lt;b&gt;", "\u2205"):
        assert token in text


def test_an_svg_has_the_tokens_as_text_and_no_markup_of_theirs(hostile: AttentionMaps) -> None:
    data = export(one_head(hostile, "cross", 0, 0, provenance=PROVENANCE), "svg")
    root = ElementTree.fromstring(data)
    tags = {element.tag for element in root.iter()}
    assert not {tag for tag in tags if tag.rsplit("}")[-1].lower() in ("script", "img", "b", "foreignobject", "a")}
    assert not [name for element in root.iter() for name in element.attrib if name.lower().startswith("on")]
    texts = texts_of_svg(data)
    assert texts.count("<s>") == 2  # once on each axis, and literally
    for token in ("</script><img s\u2026", "$x$", "\U0001f600", "한국어", "x\ufffdy", "&lt;b&gt;", "\u2205", "\u2423"):
        assert token in texts
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"|resource="[^"]*"|<!DOCTYPE[^>]*>', "", data.decode())


def test_an_svg_embeds_the_characters_that_it_uses(maps: AttentionMaps) -> None:
    data = export(one_head(maps, "cross", 3, 5, language="ko"), "svg").decode()
    embedded = re.findall(r"url\(data:font/woff;base64,([^)]+)\)", data)
    covered: set[int] = set()
    for font in embedded:
        covered |= set(TTFont(io.BytesIO(base64.b64decode(font))).getBestCmap())
    used = {character for text in texts_of_svg(data.encode()) for character in text}
    assert {ord(character) for character in used} <= covered
    assert "한" not in used or ord("한") in covered
    assert len(data) < 200_000


def test_an_svg_with_outlines_has_the_shapes_of_the_font_and_needs_none(maps: AttentionMaps) -> None:
    """The Korean letter of a title, by its extent, against the font as fontTools reads it."""
    style = Style(outlines=True)
    figure = dataclasses.replace(one_head(maps, "cross", 3, 5, language="ko"), title="헤")
    data = export(figure, "svg", style).decode()
    assert not texts_of_svg(data.encode()) and "@font-face" not in data and data.count("<use") > len(maps.source)
    (place,) = re.findall(r"<!-- 헤 -->.*?<path id=\"[^\"]*\" d=\"([^\"]*)\"", data, re.DOTALL)
    numbers = np.array([float(number) for number in re.findall(r"-?[\d.]+", place)]).reshape(-1, 2)
    with TTFont(SOURCE) as font:
        glyphs = font.getGlyphSet()
        pen = ControlBoundsPen(glyphs)
        glyphs[font.getBestCmap()[ord("헤")]].draw(pen)
        unit = 6400 / font["head"].unitsPerEm  # matplotlib writes 64ths of a pixel at 100 pixels
    np.testing.assert_allclose([*numbers.min(0), *numbers.max(0)], np.array(pen.bounds) * unit, atol=1.5)
    assert export(figure, "svg", style) == data.encode() != export(figure, "svg")


def test_svg_and_png_tell_where_they_come_from(maps: AttentionMaps) -> None:
    figure = one_head(maps, "cross", 3, 5, provenance=PROVENANCE)
    root = ElementTree.fromstring(export(figure, "svg"))
    assert (root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")) == (figure.title, figure.alt)
    description = root.findtext(".//{http://purl.org/dc/elements/1.1/}description")
    assert description is not None
    caption, provenance = description.split("\n", 1)
    assert caption == figure.caption
    assert json.loads(provenance)["sentence"] == PROVENANCE["sentence"]
    image = Image.open(io.BytesIO(export(figure, "png")))
    assert image.info["Title"] == figure.title
    assert image.info["Description"] == figure.alt
    assert json.loads(image.info["Provenance"])["heads"] == ["cross.4.6"]
    assert round(image.info["dpi"][0]) == 300


def test_svg_cells_have_the_colors_of_the_scale(maps: AttentionMaps) -> None:
    figure = one_head(maps, "cross", 3, 5)
    data = export(figure, "svg").decode()
    embedded = re.findall(r'href="data:image/png;base64,\s*([^"]+)"', data)
    image = np.asarray(Image.open(io.BytesIO(base64.b64decode(embedded[0]))).convert("RGB"))
    rows, columns = figure.panels[0].weights.shape
    step = image.shape[0] // rows
    assert step >= 20, "so many pixels that no viewer smooths a cell away"
    shown = image[step // 2 :: step, step // 2 :: step]
    if not np.array_equal(shown, scale("light")[np.rint(figure.panels[0].weights * 255).astype(int)]):
        shown = shown[::-1]  # the file may hold the image upside down, with a transform
    assert shown.shape[:2] == (rows, columns)
    np.testing.assert_array_equal(shown, scale("light")[np.rint(figure.panels[0].weights * 255).astype(int)])
    assert scale("light")[0].tolist() == [255, 255, 255]


def test_bad_sizes_are_refused(maps: AttentionMaps) -> None:
    figure = one_head(maps, "cross", 0, 0)
    with pytest.raises(ValueError, match="width_mm is 5, but must be between 20 and 2000"):
        export(figure, "pdf", width_mm=5)
    with pytest.raises(ValueError, match="dpi is 9999"):
        export(figure, "png", dpi=9999)


PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@pytest.fixture
def figures(maps: AttentionMaps, search: Search) -> dict[str, Figure]:
    return every_figure(maps, search)


def test_equal_figures_have_equal_fingerprints_and_no_two_others(figures: dict[str, Figure]) -> None:
    for name, figure in figures.items():
        copy = pickle.loads(pickle.dumps(dataclasses.replace(figure)))
        assert copy is not figure and copy.fingerprint == figure.fingerprint, name
    assert len({figure.fingerprint for figure in figures.values()}) == len(figures)


def test_every_word_and_the_origin_count(figures: dict[str, Figure]) -> None:
    for figure in figures.values():
        texts = [each.name for each in dataclasses.fields(figure) if isinstance(getattr(figure, each.name), str)]
        changes: dict[str, Any] = {name: f"{getattr(figure, name)} and more" for name in texts}
        changes |= {"kind": "decoder" if figure.kind != "decoder" else "cross", "theme": "dark"}
        changes |= {"provenance": {**figure.provenance, "more": 1}}
        result = {dataclasses.replace(figure, **{name: value}).fingerprint for name, value in changes.items()}
        assert len(result | {figure.fingerprint}) == len(changes) + 1


def test_every_cell_counts(figures: dict[str, Figure]) -> None:
    panel = figures["head"].panels[0]  # type: ignore[attr-defined]
    for place in np.ndindex(panel.weights.shape):
        weights = panel.weights.copy()
        weights[place] = np.nextafter(weights[place], np.float32(1))
        changed = dataclasses.replace(figures["head"], panels=[dataclasses.replace(panel, weights=weights)])  # type: ignore[call-arg]
        assert changed.fingerprint != figures["head"].fingerprint, place


@given(VALUES, VALUES)
def test_two_values_share_a_fingerprint_only_when_they_are_the_same(one: Any, other: Any) -> None:
    def told(value: Any) -> Any:  # tells 1, 1.0 and True apart, as JSON written by Python does; a dict has no order
        if isinstance(value, dict):
            return ["dict", sorted(([name, told(inner)] for name, inner in value.items()), key=repr)]
        return ["list", *map(told, value)] if isinstance(value, list) else repr(value)

    assert (fingerprint(one) == fingerprint(other)) == (told(one) == told(other))


@given(arrays.arrays(np.float32, arrays.array_shapes(max_dims=3, max_side=4), elements={"allow_nan": False}))
def test_shape_type_and_order_in_memory(array: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    assert fingerprint(np.asfortranarray(array)) == fingerprint(array)
    assert fingerprint(array[None]) != fingerprint(array)
    assert fingerprint(array.astype(np.float64)) != fingerprint(array)
