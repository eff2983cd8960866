"""Flow of a sentence whose last article agrees with a noun that is not written yet.

Shape legend: S source tokens, T generated tokens.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from viz_app.lessons.context import LessonContext
from viz_app.lessons.parts_of_logit import parts_of_logit
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

SENTENCE = "The dog is sleeping on the sofa."
_OTHER_GENDER = {"▁dem": "▁der", "▁le": "▁la"}  # the article before a noun of the other gender, in German and in French

Made = tuple[dict[str, Any] | None, dict[str, npt.NDArray[np.float32]]]


def made_of(context: LessonContext) -> Made:
    """Return tokens, and the parts of each logit: source tokens, decoder inputs, biases, sum: (T, S + T + 2).

    The model's own last article is also compared with the one of the other gender, `made_of_contrast` (S + T + 2,).
    None for a parser.
    """
    service = context.service
    if service.parses:
        return None, {}
    translator, text = service.translator, service.source_text(SENTENCE)

    def compute(stop: ShouldStop) -> Made:
        from transformer_core.analysis.flow import POINTS, flows
        from transformer_core.analysis.teacher_forced_run import teacher_forced_run

        translation = translator.translate(text, should_stop=stop)
        run = teacher_forced_run(translator, text, translation, points=POINTS)
        arrays = {"made_of": np.stack([parts_of_logit(each) for each in flows(translator, run)])}
        article = max((at for at, token in enumerate(run.tokens) if token in _OTHER_GENDER), default=None)
        other = None if article is None else _OTHER_GENDER[run.tokens[article]]
        if article is not None:
            (contrast,) = flows(translator, run, [article], against=other)
            arrays["made_of_contrast"] = parts_of_logit(contrast)
        tokens = {"source": list(run.source_tokens), "outputs": list(run.tokens)}
        return {**tokens, "article": article, "other": other}, arrays

    made: Made = context.compute_once(("heads.made_of", text), compute)
    return made
