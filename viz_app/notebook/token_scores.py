"""One's own scores of tokens as colours of their sentences: the strongest examples of a neuron or a direction.

token_scores([values[:, 7] for values in run["encoder.3.activations"].tensors], [each.source for each in run.sentences])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
import numpy.typing as npt

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
    """Scores of tokens, the sentence with the highest one first.

    Args:
        sentences: Labels of the tokens.
        scores: A number for each token of each sentence.
        listed: Sentences that show themselves in a notebook, at most.
        language: "en" or "ko".
    """

    sentences: Sequence[Axis] = field(repr=False)
    scores: Sequence[npt.NDArray[np.floating]] = field(repr=False)
    listed: int = 20
    language: str = "en"

    @property
    def html(self) -> str:
        """A table: the highest score, its token, and the sentence with a colour for each score."""
        t = texts(self.language)
        head = "".join(f"<th>{escape(t(f'notebook.{name}'))}</th>" for name in ("score", "scored", "sentence"))
        most = max((float(np.abs(each).max(initial=0.0)) for each in self.scores), default=0.0) or 1.0
        order = sorted(range(len(self.scores)), key=lambda n: -self.scores[n].max(initial=-np.inf))
        return f"<table><tr>{head}</tr>{''.join(self._row(n, most) for n in order[: self.listed])}</table>"

    def _row(self, number: int, most: float) -> str:
        scores, tokens = self.scores[number], self.sentences[number].tokens
        if not len(scores):
            return ""
        first = int(scores.argmax())
        cells = f"<td>{scores[first]:.3g}</td><td>{_text(tokens[first])}</td>"
        words = "".join(_token(token, score, most) for token, score in zip(tokens, scores.tolist(), strict=True))
        return f'<tr>{cells}<td style="text-align: left">{words}</td></tr>'

    def _repr_html_(self) -> str:
        return self.html


def token_scores(
    scores: Sequence[npt.ArrayLike], sentences: Sequence[Axis], *, listed: int = 20, language: str = "en"
) -> TokenScores:
    """Return a view of scores of tokens.

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
    return TokenScores(sentences, arrays, listed, language)


def _token(token: str, score: float, most: float) -> str:
    red, green, blue = diverging("dark")[0 if score < 0 else -1].tolist()
    colour = f"rgba({red}, {green}, {blue}, {_OPACITY * abs(score) / most:.2f})"
    blank = " " if token.startswith(WORD_BOUNDARY) and token != WORD_BOUNDARY else ""
    return f'{blank}<span style="background: {colour}" title="{score:.3g}">{_text(token)}</span>'


def _text(token: str) -> str:
    return escape(xml_safe(display_label(token)))
