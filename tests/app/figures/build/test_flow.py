"""The flow as a figure: its numbers are the library's, its ribbons in proportion to them, its words say which."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.app.conftest import OTHER
from tests.app.figures.samples import flows, table_of
from transformer_core.analysis.flow import flow
from transformer_core.attention_maps import AttentionMaps
from transformer_core.translator import Translator
from viz_app.figures import VIEWS, FlowFigure, Flows, Style, animated, export
from viz_app.figures.model import flow as model
from viz_app.figures.mpl import flow as drawing
from viz_app.figures.mpl import renderer
from viz_app.figures.mpl.folded_flow import FoldedFlow
from viz_app.figures.mpl.ribbons import beginning
from viz_app.figures.mpl.unfolded_flow import UnfoldedFlow

EXPLORER = Path("viz_app/components/explorer/js/flow/foldedscene.js")


def drawn(material: Flows, **options: object) -> FlowFigure:
    figure = VIEWS["flow"].draw(flows=material, **options)
    assert isinstance(figure, FlowFigure)
    return figure


@pytest.fixture(scope="module")
def real(translator: Translator) -> Flows:
    translation = translator.translate(OTHER)
    return Flows.from_model(translator, OTHER, translation, translation.attention)


def test_the_numbers_are_those_of_the_library(translator: Translator, real: Flows) -> None:
    at, other = 1, translator.tokenizer.token(9)
    expected = flow(translator, OTHER, at, against=other)
    figure = drawn(real, word=at, against=other, unfold=True, share=50)
    rows = table_of(figure)
    for what, values in (("source", expected.source), ("inputs", expected.inputs[: at + 1])):
        np.testing.assert_allclose([float(row["value"]) for row in rows if row["what"] == what], values, atol=1e-5)
    parts = [float(row["value"]) for row in rows if row["what"] in ("source", "inputs", "biases")]
    (logit,) = [float(row["value"]) for row in rows if row["what"] == "logit"]
    assert sum(parts) == pytest.approx(logit, abs=1e-4) == pytest.approx(expected.logit, abs=1e-4)
    ways = [row for row in rows if row["what"] == "way"]
    assert len(ways) == len(expected.graph(0.5).ways)
    for row in ways:
        kind, layer = row["layer"].split(".")
        edges = expected.maps[kind][int(layer) - 1, :, int(row["query"]) - 1, int(row["key"]) - 1]  # type: ignore[index]
        assert float(row["value"]) == pytest.approx(float(edges.sum()), abs=1e-5)
    content = json.loads(export(figure, "json"))
    assert content["share"] >= 0.5 and content["of"] == len(expected.ways)
    assert [row["value"] for row in content["rows"] if row["what"] == "way"] == [float(row["value"]) for row in ways]


def test_of_folded_tokens_only_the_chosen_one_is_compared(translator: Translator, real: Flows) -> None:
    figure = drawn(real, word=1, against=translator.tokenizer.token(9))
    assert [token.position for token in figure.tokens] == list(range(len(real.outputs)))
    assert [token.against is None for token in figure.tokens] == [at != 1 for at in range(len(real.outputs))]
    assert figure.graph is None


@pytest.mark.parametrize("language", ["en", "ko"])
def test_words_tell_parts_contrast_and_share(maps: AttentionMaps, language: str) -> None:
    figure = drawn(flows(maps), word="biss", against="Hund", unfold=True, language=language)
    assert figure.chosen is not None and figure.graph is not None
    largest = sorted(figure.chosen.parts[:-1], key=lambda part: -abs(part.value))[:4]
    for part in largest:
        assert f"{figure.label(part).strip(chr(0x2581))}\u201d {model.number(part.value)}" in figure.caption
    for text in ("\u201cbiss\u201d", "\u201cHund\u201d", "\u22127.5", model.number(figure.chosen.logit)):
        assert text in figure.caption
    assert f"{len(figure.graph.ways)}" in figure.caption and "80 %" in figure.caption
    assert figure.caption in figure.alt and figure.title.count("\u201c") == 2
    everything = drawn(flows(maps), language=language)
    assert "\u22127.5" in everything.caption and "8" in everything.caption


def test_a_token_is_its_number_or_its_text(maps: AttentionMaps) -> None:
    assert drawn(flows(maps), word="Hu").word == drawn(flows(maps), word=1).word == 1
    assert drawn(flows(maps), word="</s>").word == 7
    for wrong in ("Hund", 8, -1):
        with pytest.raises(ValueError, match=r"word is .*, but must be from 1 to 8, or one of Der, Hu, nd, biss"):
            drawn(flows(maps), word=wrong)
    for options in ({"unfold": True}, {"against": "x"}):
        with pytest.raises(ValueError, match="word is missing"):
            drawn(flows(maps), **options)


def test_ribbons_are_as_wide_as_parts_and_meet_their_tokens(maps: AttentionMaps) -> None:
    figure = drawn(flows(maps), word=4)
    with renderer.drawing_settings():
        folded = drawing.plan(figure, Style())
    assert isinstance(folded, FoldedFlow) and folded.across and figure.chosen is not None
    strands = list(folded._strands(figure.chosen, figure.chosen.parts, model.LEAST, folded.band))
    positive = sum(max(0.0, part.value) for part in figure.chosen.parts)
    for share, part, points in strands:
        assert share == pytest.approx(abs(part.value) / positive)
        line = "inputs" if part.origin == "inputs" else "source"
        ends = folded.along["inputs"][5], folded.along[line][part.position if part.origin != "biases" else -1]  # type: ignore[index]
        assert points[-1][0] == ends[1] and abs(points[0][0] - ends[0]) < folded.band
    assert {part for _, part, _ in strands} == {
        part for part in figure.chosen.parts if abs(part.value) > model.LEAST * positive
    }


def test_a_long_sentence_stands_beside_its_translation(maps: AttentionMaps) -> None:
    figure = drawn(flows(maps), word=4)
    with renderer.drawing_settings():
        narrow, wide = (drawing.plan(figure, Style(width_mm=width)) for width in (60, 120))
    assert isinstance(narrow, FoldedFlow) and isinstance(wide, FoldedFlow)
    assert (narrow.across, wide.across) == (False, True)


def test_an_unfolded_flow_stands_on_its_tokens(maps: AttentionMaps) -> None:
    figure = drawn(flows(maps), word=4, unfold=True)
    with renderer.drawing_settings():
        unfolded = drawing.plan(figure, Style())
    assert isinstance(unfolded, UnfoldedFlow)
    for way in unfolded.graph.ways:
        (x0, y0), (x1, y1) = unfolded._points(way)[0], unfolded._points(way)[-1]
        below, above = ("encoder", "decoder") if way.kind == "cross" else (way.kind, way.kind)
        assert (x0, x1) == (unfolded.x[below][way.key], unfolded.x[above][way.query])  # type: ignore[index]
        assert y0 == unfolded._y("encoder", 6 if way.kind == "cross" else way.layer)
        assert unfolded._y("encoder", way.layer + 1) <= y1 < unfolded._y("encoder", way.layer)
    everything = [x for stack in ("encoder", "decoder") for x in unfolded.x[stack]]
    assert everything == sorted(everything) and everything[0] > 0 and everything[-1] < unfolded.width


def test_the_growth_ends_with_the_figure(small: AttentionMaps) -> None:
    figure = drawn(flows(small), word=2, unfold=True)
    growth = animated(figure)
    assert growth is not None and growth.frames[-1] == figure
    pictures = Image.open(io.BytesIO(export(figure, "gif", dpi=60)))
    assert pictures.n_frames == len(growth.frames)  # type: ignore[attr-defined]
    inked = []
    for frame in range(0, pictures.n_frames, 5):  # type: ignore[attr-defined]
        pictures.seek(frame)
        inked.append(int((np.asarray(pictures.convert("RGB")) < 200).any(axis=2).sum()))
    assert inked == sorted(set(inked))
    everything = animated(drawn(flows(small)))
    assert everything is not None
    assert [frame.word for frame in everything.frames if isinstance(frame, FlowFigure)] == list(range(4))


def test_part_of_a_curve_lies_on_it() -> None:
    curve = [(0.0, 0.0), (0.0, 1.0), (2.0, 1.0), (2.0, 2.0), (2.0, 3.0), (4.0, 3.0), (4.0, 4.0)]
    assert beginning(curve, 1.0) == curve
    assert beginning(curve, 0.5) == [*curve[:3], (2.0, 2.0)] or beginning(curve, 0.5)[:4] == curve[:4]

    def at(points: list[tuple[float, float]], time: float) -> np.ndarray:
        a, b, c, d = np.array(points[-4:])
        s = 1 - time
        return np.asarray(s**3 * a + 3 * s * s * time * b + 3 * s * time * time * c + time**3 * d)

    half = beginning(curve[:4], 0.5)
    for time in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(at(half, time), at(curve[:4], time / 2))
    np.testing.assert_allclose(beginning(curve, 0.75)[-1], at(curve, 0.5))


def test_screen_and_print_draw_the_same_parts() -> None:
    script = EXPLORER.read_text(encoding="utf-8")
    assert re.search(rf"const LEAST = {model.LEAST};", script)
    assert re.search(rf"const \[FAINTEST, NARROW\] = \[{model.FAINTEST}, {model.NARROW}\];", script)
