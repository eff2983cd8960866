"""Own numbers as figures: signed or not, with missing ones, in every format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from viz_app.figures import VIEWS, Figure, Style, export, formats_of, heatmap, own_maps
from viz_app.figures.colours.palette import BACKGROUND
from viz_app.figures.colours.scales import format_number, numbers_map
from viz_app.figures.model.figure import NumbersPanel, SignedPanel

ROWS, COLUMNS = ["<b>x</b>", "\u2581\ud55c\uad6d\uc5b4", "$\\frac{1}{2}$"], ["a", "a", "=1+1", "&amp;"]


def numbers(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, shape).astype(np.float32)


def with_gap(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array[..., 1, 2] = np.nan
    return array


VALUES = with_gap(numbers(3, 4))
MAPS = with_gap(numbers(2, 3, 3, 4))


def own(signed: bool = True, array: np.ndarray = MAPS) -> Any:
    return own_maps(array, ROWS, COLUMNS, signed=signed, scale_title="effect")


FIGURES: dict[str, tuple[Figure, np.ndarray]] = {
    "heatmap": (heatmap(VALUES, ROWS, COLUMNS, signed=True, scale_title="effect"), VALUES),
    "head": (VIEWS["head"].draw(maps=own(), kind="own", layer=1, head=2), MAPS[1, 2]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_numbers_and_gaps_are_in_every_format(name: str) -> None:
    figure, values = FIGURES[name]
    made = {format: export(figure, format) for format in formats_of(figure)}
    assert {"svg", "pdf", "png", "tex", "csv", "npz", "json"} <= made.keys()
    stored = np.load(io.BytesIO(made["npz"]))
    np.testing.assert_array_equal(stored["values" if name == "heatmap" else "weights"].reshape(values.shape), values)
    read = json.loads(made["json"], parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    listed = read["values"] if name == "heatmap" else read["panels"][0]["weights"]
    assert [[None if np.isnan(v) else float(str(v)) for v in row] for row in values] == listed
    rows = list(csv.DictReader(io.StringIO(made["csv"].decode("utf-8-sig"))))
    cells = [row["value" if name == "heatmap" else "weight"] for row in rows]
    assert cells == ["" if np.isnan(value) else str(value) for value in values.flat]
    assert made["tex"].decode().count("\\draw[gray, very thin]") == np.isnan(values).sum() == 1
    assert "<b>x</b>" not in made["svg"].decode()
    assert "&lt;b&gt;x" in made["svg"].decode()
    assert "effect" in figure.caption and "no number" in figure.caption and figure.alt


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_zero_is_the_page_and_both_ends_are_labelled(theme: Any) -> None:
    scale = numbers_map(VALUES, True, Style(), theme)
    assert scale.hex()[len(scale.colors) // 2] == BACKGROUND[theme].lower() and scale.low == -scale.high
    assert scale.high >= np.nanmax(np.abs(VALUES))
    drawn = export(heatmap(VALUES, ROWS, COLUMNS, signed=True, theme=theme), "svg").decode()
    assert all(f">{format_number(end)}<" in drawn for end in (scale.low, 0.0, scale.high))


def test_views_draw_numbers_and_name_them() -> None:
    for signed, panel in ((True, SignedPanel), (False, NumbersPanel)):
        maps = own(signed, MAPS if signed else np.abs(MAPS))
        for name, count in (("head", 1), ("layer", 3), ("heads", 6), ("compare", 3)):
            figure = VIEWS[name].draw(maps=maps, kind="own", language="ko", other_head=1)
            assert len(figure.panels) == count and isinstance(figure.panels[0], panel)  # type: ignore[attr-defined]
            assert "effect" in figure.title and figure.caption and figure.masked_note  # type: ignore[attr-defined]
            assert len(export(figure, "svg")) > 5_000
            if name == "compare":
                difference = maps.array[0, 1] - maps.array[0, 0]
                np.testing.assert_array_equal(figure.panels[2].weights, difference)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="lines stand for attention weights"):
        VIEWS["lines"].draw(maps=own(), kind="own")
    with pytest.raises(ValueError, match="only attention weights can be merged"):
        VIEWS["head"].draw(maps=own(), kind="own", unit="words")


def test_colours_of_unsigned_numbers_begin_at_zero() -> None:
    figure = VIEWS["heads"].draw(maps=own(False, np.abs(MAPS) + 5), kind="own")
    scale, _ = figure.color_maps(Style())  # type: ignore[attr-defined]
    assert (scale.low, scale.high) == (0.0, pytest.approx(np.nanmax(np.abs(MAPS) + 5)))


def test_all_may_be_missing() -> None:
    nothing = np.full((3, 4), np.nan)
    for signed in (True, False):
        figure = heatmap(nothing, ROWS, COLUMNS, signed=signed)
        assert all(export(figure, format) for format in formats_of(figure))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": [[1, np.inf, 0, 0]] * 3}, "not a finite number"),
        ({"values": np.zeros((501, 500))}, "250,500 numbers, but at most 250,000"),
        ({"values": [["a"] * 4] * 3}, "must be real numbers"),
        ({"values": np.zeros(4)}, r"must be \(rows, columns\)"),
        ({"rows": ["a"]}, "row_labels has 1 entries, but the values have 3"),
        ({"rows": "abc"}, "rows must be a list"),
        ({"columns": ["a", "b", "c", 4]}, "columns must be a list with a text"),
        ({"columns": ["a", "b", "c", "d" * 1001]}, "a label of 1,001 characters, but at most 1,000"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        heatmap(**{"values": VALUES, "rows": ROWS, "columns": COLUMNS, **change})


def test_own_maps_of_numbers_have_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    infinite = MAPS.copy()
    infinite[1, 2, 0, 3] = -np.inf
    with pytest.raises(ValueError, match=r"layer 1, head 2, query 0 .* infinite"):
        own(True, infinite)
    with pytest.raises(ValueError, match=r"33,554,433 numbers, but at most 33,554,432"):
        own(True, np.broadcast_to(np.float32(0), (1, 1, 1, 2**25 + 1)))


def test_lists_and_tensors_are_arrays_too() -> None:
    torch = pytest.importorskip("torch")
    given = torch.tensor(VALUES, requires_grad=True)
    np.testing.assert_array_equal(heatmap(given, ROWS, COLUMNS).matrix, VALUES)
    np.testing.assert_array_equal(heatmap(VALUES.tolist(), ROWS, COLUMNS).matrix, VALUES)


def test_the_lines_of_the_guide_run() -> None:
    guide = (Path(__file__).resolve().parents[4] / "docs" / "figures.md").read_text(encoding="utf-8")
    scope: dict[str, Any] = {}
    exec(guide.split("## Your own numbers")[1].split("```python\n")[1].split("```")[0], scope)
    assert scope["pdf"].startswith(b"%PDF") and isinstance(scope["figure"].panels[0], SignedPanel)
