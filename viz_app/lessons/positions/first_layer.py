"""Input of the first layer of the encoder, and the head there that depends most on positions.

In the first layer a score is exactly the sum of its parts, and nothing has to be frozen (Ke et al. 2021).

Shape legend: n tokens with `</s>`, d = d_model, P parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from transformer_core.analysis.score_decomposition import ScoreDecomposition
    from transformer_core.translator import Translator

FloatArray = npt.NDArray[np.float32]

PARTS = ("positions", "words", "mixed", "biases")


@dataclass(frozen=True, eq=False)
class FirstLayer:
    """Input of the first layer, and one of its heads.

    Args:
        arrays: `words`, (n, d), embeddings as the model scales them; `places`, (n, d), their positional encodings;
            with a head `parts`, (P, n, n), of its scores, as in PARTS, each minus its mean over the keys of a query;
            and its `weights`, (n, n).
        head: The head whose scores vary most with the positions, such as `encoder.1.1`; "" where they have no parts.
    """

    arrays: Mapping[str, FloatArray]
    head: str = ""


def read_first_layer(translator: Translator, text: str) -> FirstLayer:
    """Read a sentence, and decompose the scores of the head to which positions matter most."""
    from transformer_core.analysis.frozen import embedded
    from transformer_core.analysis.score_decomposition import POINTS, NoParts, decompose_score
    from transformer_core.analysis.teacher_forced_run import teacher_forced_run

    run = teacher_forced_run(translator, text, "", points=POINTS)
    words, places = (part.detach().numpy() for part in embedded(translator.model, "encoder", run.source))
    heads = [f"encoder.1.{number + 1}" for number in range(translator.config.num_heads)] if places.any() else []
    try:
        parts = {head: _parts(decompose_score(translator, run, head, by="role")) for head in heads}
    except NoParts:
        parts = {}
    if not parts:
        return FirstLayer({"words": words, "places": places})
    head = max(parts, key=lambda each: parts[each][0].std())
    weights = run.captured[f"{head}.weights"][0].float().numpy()
    return FirstLayer({"words": words, "places": places, "parts": parts[head], "weights": weights}, head)


def _parts(scores: ScoreDecomposition) -> FloatArray:
    """Return (P, n, n): by positions alone, by words alone, by a word and a position, and all with a bias."""
    pairs = scores.scale * np.einsum("aqc,bkc->abqk", scores.queries.numpy(), scores.keys.numpy())
    (words, positions), mixed = pairs[[0, 1], [0, 1]], pairs[0, 1] + pairs[1, 0]
    biases = pairs.sum(axis=(0, 1)) - words - positions - mixed
    parts = np.stack([positions, words, mixed, biases])
    return np.asarray(parts - parts.mean(axis=2, keepdims=True), dtype=np.float32)
