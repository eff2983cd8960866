"""The collection of the page Figures: what it takes, what it refuses, what comes out."""

from __future__ import annotations

import io
import json
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from viz_app.export.bundle import Turn
from viz_app.figure_editor import collection as service
from viz_app.figure_editor.collection import Collection, weights_in
from viz_app.figure_editor.rendering import ExportableFigure, RenderCache
from viz_app.figures import CurvesFigure, Figure, Request, Series, Style, layer_heads, own_maps
from viz_app.serving.scheduling.request_queue import Visitor

TOKENS = ["a", "b"]


@pytest.fixture(scope="module")
def figure() -> Figure:
    return layer_heads(Request(maps=own_maps(np.full((1, 3, 2, 2), 0.5), TOKENS, TOKENS), kind="own"))


def test_a_figure_is_kept_once_for_each_way_of_drawing_it(figure: Figure) -> None:
    plain = ExportableFigure(figure, Style(), 300)
    kept = Collection().with_figure(plain)
    assert kept.reason_refused(ExportableFigure(replace(figure), Style(), 300, "ko")) == "there", (
        "the page's language draws nothing"
    )
    others = [ExportableFigure(figure, Style(width_mm=60), 300), ExportableFigure(figure, Style(), 150)]
    for other in others:
        kept = kept.with_figure(other)
    with pytest.raises(ValueError, match="there"):
        kept.with_figure(others[0])
    assert kept.without(plain.key).figures == tuple(others)


def test_limits(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> None:
    curves = CurvesFigure(series=[Series(x=[1.0], y=[1.0], label="x")], x_title="x", y_title="y")
    assert (weights_in(figure), weights_in(curves)) == (12, 0)
    first, second, third = (ExportableFigure(figure, Style(width_mm=width)) for width in (50, 60, 70))
    monkeypatch.setattr(service, "MAX_WEIGHTS", 24)
    kept = Collection().with_figure(first).with_figure(second)
    assert kept.reason_refused(third) == "large"
    assert kept.reason_refused(ExportableFigure(curves, Style())) == ""
    monkeypatch.setattr(service, "MAX_FIGURES", 2)
    assert kept.reason_refused(third) == "full"
    assert kept.without(first.key).reason_refused(third) == ""


def test_the_zip_holds_the_files_of_the_buttons(figure: Figure) -> None:
    products = [ExportableFigure(figure, Style(width_mm=60), 150), ExportableFigure(figure, Style(), 300)]
    kept = Collection().with_figure(products[0]).with_figure(products[1])
    with zipfile.ZipFile(io.BytesIO(kept.bundle(("svg", "png"), "ko"))) as archive:
        index = json.loads(archive.read("index.json"))
        assert index["title"] == "모은 그림"
        for product, each in zip(products, index["figures"], strict=True):
            for format, file in zip(("svg", "png"), each["files"], strict=True):
                assert archive.read(file["file"]) == product.file(format)


def test_others_draw_between_two_drawings_of_a_zip() -> None:
    """24 figures in all formats take minutes."""
    cache, order, started = RenderCache(), list[str](), threading.Event()

    def zip_of_two(turn: Turn) -> bytes:
        for number in (1, 2):
            with turn():
                order.append(f"zip {number}")
                started.set()
                while number == 1 and not cache._queue.waiting:
                    time.sleep(0.01)
        return b""

    def other() -> bytes:
        order.append("other")
        return b""

    zipping = threading.Thread(target=cache.files, args=("a", Visitor(), zip_of_two))
    zipping.start()
    assert started.wait(10)
    cache.file("b", Visitor(), other)
    zipping.join(10)
    assert order == ["zip 1", "other", "zip 2"]


def test_a_zip_takes_a_turn_for_each_drawing(figure: Figure) -> None:
    turns: list[str] = []

    @contextmanager
    def turn() -> Iterator[None]:
        turns.append("begins")
        yield
        turns.append("ends")

    ExportableFigure(figure, Style()).bundle(turn)
    formats = ExportableFigure(figure, Style()).formats
    assert turns == ["begins", "ends"] * (len(formats) + 1), "and one for the picture of the index"
