"""Lesson "Why self-attention" (Section 4): Table 1 with the visitor's sentence put in."""

from __future__ import annotations

import numpy as np

from transformer_core.complexity import Layer, layer_cost
from viz_app.figures import CurvesFigure, Series
from viz_app.figures.spec import Figure
from viz_app.services.lessons.context import Context, Data

RESTRICTED_TO = 32  # positions on either side, where a scene has no slider for it
_LENGTHS = np.arange(1, 2001)
_SHOWN: tuple[Layer, ...] = ("attention", "recurrent", "restricted")


def data(context: Context) -> Data:
    """The tokens; the table is worked out in the browser."""
    return Data(values={"tokens": list(context.pieces), "r": RESTRICTED_TO})


def figure(scene: str, context: Context) -> Figure | None:
    """Operations against the length."""
    if scene != "crossover":
        return None
    d = int(context.state.choice("d", "512", ("128", "512", "1024")))
    r = int(context.state.number("r", RESTRICTED_TO, 1, 2000))
    series = tuple(
        Series(
            x=_LENGTHS,
            y=[layer_cost(layer, n=int(n), d=d, r=r).operations for n in _LENGTHS],
            label=context.t(f"lesson_why.layer_{layer}"),
            dashed=layer == "restricted",
        )
        for layer in _SHOWN
    )
    return CurvesFigure(
        series=series,
        x_title=context.t("lesson_why.length"),
        y_title=context.t("lesson_why.operations"),
        language=context.t.language,
    )
