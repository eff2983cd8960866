"""One's own scores of tokens as colours of their sentences: the strongest examples of a neuron or a direction.

token_scores([values[:, 7] for values in run["encoder.3.activations"].tensors], [each.source for each in run.sentences])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from transformer_core.attention_maps import WORD_BOUNDARY, Axis
from viz_app.figures.colours.scales import diverging
from viz_app.figures.model.arrays import real_numbers
from viz_app.figures.model.figure import display_label
from viz_app.figures.record import xml_safe
from viz_app.text import texts

_MAX_TOKENS = 1_000_000  # of a sentence
_OPACITY = 0.6  # of the strongest colour: letters of a light and of a dark notebook can be read on it


@dataclass(frozen=True)
class TokenScores:
    """Scores of tokens; a notebook shows them.

    Args:
        html: A table: the highest score of a sentence, its token, and the sentence with a colour for each score.
    """

    html: str = field(repr=False)

    def _repr_html_(self) -> str:
        return self.html


def token_scores(
    scores: Sequence[Any], sentences: Sequence[Axis], *, listed: int = 20, language: str = "en"
) -> TokenScores:
    """Return a view of scores of tokens, the sentence with the highest one first.

    Args:
        scores: For each sentence a number for each token: NumPy, PyTorch or lists.
        sentences: The tokens, such as `each.source for each in run.sentences`.
        listed: Sentences at most.
        language: "en" or "ko".

    Raises:
        ValueError: A sentence has not as many scores as tokens, or one is not a finite number.
    """
    arrays = [real_numbers("scores", each, _MAX_TOKENS) for each in scores]
    if [each.shape for each in arrays] != [(len(each),) for each in sentences]:
        raise ValueError("each sentence needs a score for each of its tokens")
    if not all(np.isfinite(each).all() for each in arrays):
        raise ValueError("scores must be finite numbers")
    t, most = texts(language), max((float(np.abs(each).max(initial=0.0)) for each in arrays), default=0.0) or 1.0
    rows = ["".join(f"<th>{escape(t(f'notebook.{name}'))}</th>" for name in ("score", "scored", "sentence"))]
    order = sorted((number for number, each in enumerate(arrays) if len(each)), key=lambda n: -arrays[n].max())
    for number in order[:listed]:
        values, tokens = arrays[number].tolist(), sentences[number].tokens
        words = "".join(_token(token, value, value / most) for token, value in zip(tokens, values, strict=True))
        first = f"<td>{max(values):.3g}</td><td>{_text(tokens[values.index(max(values))])}</td>"
        rows.append(f'{first}<td style="text-align: left">{words}</td>')
    return TokenScores(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>")


def _token(token: str, score: float, share: float) -> str:
    red, green, blue = diverging("dark")[0 if share < 0 else -1].tolist()
    blank = " " if token.startswith(WORD_BOUNDARY) and token != WORD_BOUNDARY else ""
    colour = f"rgba({red}, {green}, {blue}, {_OPACITY * abs(share):.2f})"
    return f'{blank}<span style="background: {colour}" title="{score:.3g}">{_text(token)}</span>'


def _text(token: str) -> str:
    return escape(xml_safe(display_label(token)))
