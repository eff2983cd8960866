from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from viz_app.figures.model.figure import HeatmapFigure, HeatmapPanel, display_label, word_starts


def panel(**changes: Any) -> HeatmapPanel:
    values: dict[str, Any] = {
        "weights": [[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]],
        "query_labels": ["a", "b", "c"],
        "key_labels": ["x", "y"],
    }
    return HeatmapPanel(**{**values, **changes})


def test_a_figure_does_not_change_when_its_source_does() -> None:
    weights = np.full((3, 2), 0.5)
    made = panel(weights=weights)
    weights[:] = 0
    assert (made.weights == 0.5).all()
    with pytest.raises(ValueError, match="read-only"):
        made.weights[0, 0] = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": [[0.25, 0.75], [0.9, 0.0], [0.5, 0.5]]}, r"row 1 .*'b'.* sums to 0\.9000, but must sum to 1"),
        ({"weights": [[0.25, 0.75], [1.0, 0.0], [np.nan, 0.5]]}, r"row 2 .*'c'.* not a finite number"),
        ({"weights": [[-0.5, 1.5], [1.0, 0.0], [0.5, 0.5]]}, r"row 0 .* outside 0 to 1"),
        ({"weights": np.ones((2, 3, 2)) / 2}, r"shape \(2, 3, 2\), but must be \(queries, keys\)"),
        ({"weights": np.ones((0, 2))}, "at least one of each"),
        ({"query_labels": ["a", "b"]}, "query_labels has 2 entries, but the weights have 3 rows"),
        ({"key_labels": ["a"]}, "key_labels has 1 entries, but the weights have 2 columns"),
        ({"key_labels": "xy"}, "key_labels is one text"),
        ({"query_words": [0]}, "query_words has 1 entries"),
        ({"masked": np.zeros((2, 2))}, r"masked has shape \(2, 2\)"),
        ({"masked": [[True, False], [False, False], [False, False]]}, r"row 0 .* marked as masked"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        panel(**changes)


def test_rows_may_miss_one_by_a_rounding_error() -> None:
    panel(weights=[[0.2501, 0.7505], [1.0, 0.0], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"panels": []}, "at least one panel"),
        ({"theme": "sepia"}, "light, dark"),
        ({"kind": "both"}, "encoder, decoder, cross"),
        ({"columns": -1}, "columns is -1"),
        ({"row_titles": ["a", "b"]}, "row_titles has 2 entries, but the figure has 1 rows"),
    ],
)
def test_bad_options_of_a_figure_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HeatmapFigure(**{"panels": [panel()], "query_title": "query", "key_title": "key", **options})


@pytest.mark.parametrize(
    ("label", "width", "expected"),
    [
        ("\u2581Hund", None, "Hund"),
        ("\u2581", None, "\u2423"),
        ("", None, "\u2205"),
        ("<s>", None, "<s>"),
        ("a\nb", None, "a\ufffdb"),
        ("x\u202ey", None, "x\ufffdy"),
        ("x\ufffey", None, "x\ufffdy"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde\u2026"),
        ("한국어말", 6, "한국\u2026"),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
    ],
)
def test_labels_as_they_are_drawn(label: str, width: int | None, expected: str) -> None:
    assert display_label(label, width) == expected


def test_word_starts_leave_out_the_first_position() -> None:
    assert word_starts((0, 1, 1, 2)) == (1, 3)
    assert word_starts(None) == ()
