"""The collection of the page Figures: what it takes, what it refuses, what comes out."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from viz_app.figure_editor import collection as service
from viz_app.figure_editor.collection import Collection, weights_in
from viz_app.figure_editor.rendering import Product
from viz_app.figures import CurvesFigure, Figure, Series, Style, layer_heads, own_maps

TOKENS = ["a", "b"]


@pytest.fixture(scope="module")
def figure() -> Figure:
    return layer_heads(own_maps(np.full((1, 3, 2, 2), 0.5, dtype=np.float32), TOKENS, TOKENS), "own", 0)


def test_a_figure_is_kept_once_for_each_way_of_drawing_it(figure: Figure) -> None:
    plain = Product(figure, Style(), 300)
    kept = Collection().added(plain)
    assert kept.refusal(Product(replace(figure), Style(), 300, "ko")) == "there", "the page's language draws nothing"
    others = [Product(figure, Style(width_mm=60), 300), Product(figure, Style(), 150)]
    for other in others:
        kept = kept.added(other)
    with pytest.raises(ValueError, match="there"):
        kept.added(others[0])
    assert kept.without(plain.key).products == tuple(others)


def test_two_measurements_with_one_origin_are_two_figures() -> None:
    first, second = (
        CurvesFigure(series=[Series(x=[1.0, 2.0], y=y)], x_title="n", y_title="ms", provenance={"machine": "this"})
        for y in ([1.0, 2.0], [1.0, 2.5])
    )
    kept = Collection().added(Product(first, Style()))
    assert kept.refusal(Product(second, Style())) == ""
    assert [each.figure for each in kept.added(Product(second, Style())).products] == [first, second]


def test_limits(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> None:
    curves = CurvesFigure(series=[Series(x=[1.0], y=[1.0], label="x")], x_title="x", y_title="y")
    assert (weights_in(figure), weights_in(curves)) == (12, 0)
    first, second, third = (Product(figure, Style(width_mm=width)) for width in (50, 60, 70))
    monkeypatch.setattr(service, "MOST_WEIGHTS", 24)
    kept = Collection().added(first).added(second)
    assert kept.refusal(third) == "large"
    assert kept.refusal(Product(curves, Style())) == ""
    monkeypatch.setattr(service, "MOST_FIGURES", 2)
    assert kept.refusal(third) == "full"
    assert kept.without(first.key).refusal(third) == ""


def test_the_zip_holds_the_files_of_the_buttons(figure: Figure) -> None:
    products = [Product(figure, Style(width_mm=60), 150), Product(figure, Style(), 300)]
    kept = Collection().added(products[0]).added(products[1])
    with zipfile.ZipFile(io.BytesIO(kept.bundle(("svg", "png"), "ko"))) as archive:
        told = json.loads(archive.read("index.json"))
        assert told["title"] == "모은 그림"
        for product, each in zip(products, told["figures"], strict=True):
            for format, file in zip(("svg", "png"), each["files"], strict=True):
                assert archive.read(file["file"]) == product.file(format)
