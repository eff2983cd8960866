"""Lesson "Regularisation" (Section 5.4): label smoothing on a real translation, and the places of dropout."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

from viz_app.lessons.chart_data import ChartSet, chart_set, dots_chart
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.dots import Dots
from viz_app.lessons.results.paper_results import TABLE_3
from viz_app.lessons.results.reduced_table import MEASURES, load_results, mean_interval, reduced_result
from viz_app.text import Texts

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator

# Section 5.4, in the order of Figure 1: on the sums of embeddings and positions, and on the output of each sub-layer.
PLACES = ("source", "encoder_self", "encoder_feed", "target", "decoder_self", "cross", "decoder_feed")
SHOWN = 48  # values of a vector that fit on the stage
QUESTION = 0.2  # epsilon of the last scene

# Table 3, base and row (D), by epsilon.
_ROWS = {0.0: "table3-d-smoothing0", 0.1: "base", 0.2: "table3-d-smoothing0.2"}

_WHOSE = ("paper", "small")
_DIGITS = {"perplexity": 2, "bleu": 1}

FloatArray = npt.NDArray[np.float32]


class Step(TypedDict):
    """Token of the translation, its probability, and the likeliest others with theirs."""

    token: str
    p: float
    others: list[tuple[str, float]]


class Charts(TypedDict):
    """Charts by scene."""

    scores: ChartSet


class Values(TypedDict):
    """Numbers for the browser; `question` is the epsilon of the last scene."""

    vocabulary: int
    steps: list[Step]
    charts: Charts
    places: list[str]
    own_dropout: float
    question: float


def data(context: LessonContext) -> StageData:
    """Return the model's predictions for each token, measured scores, and vectors where dropout would act."""
    translator, translation = context.service.translator, context.result.translation
    key = ("regularisation.vectors", translation.source)
    vectors = context.compute_once(key, lambda _: _vectors(translator, translation))
    vocabulary = translator.config.vocab_size
    values: Values = {
        "vocabulary": vocabulary,
        "steps": _steps(translation),
        "charts": {"scores": _score_charts(context.t)},
        "places": list(PLACES),
        "own_dropout": context.service.card.training_number("dropout", translator.config.dropout),
        "question": QUESTION,
    }
    drawn = np.random.default_rng(0).random(vectors.shape)
    return StageData(values=values, arrays={"vectors": vectors, "drawn": drawn})


def _score_chart(whose: str, rows: list[dict[str, Any]], t: Texts) -> dict[str, Any]:
    columns = [
        Dots(
            values=[row[name] for row in rows],
            title=t(f"lesson_regularisation.{name}"),
            axis=t(f"lesson_regularisation.better_{name}"),
            digits=_DIGITS[name],
            bands=[row["interval"][name] for row in rows] if whose == "small" else (),
        )
        for name in MEASURES[::-1]
    ]
    return dots_chart([f"\u03b5 = {row['epsilon']:g}" for row in rows], columns, t("lesson_regularisation.models"))


def _measured(whose: str) -> list[dict[str, Any]]:
    if whose == "small":
        return _small()
    printed = {line.preset: {str(measure): getattr(line, measure) for measure in MEASURES} for line in TABLE_3}
    return [{"epsilon": epsilon, **printed[name]} for epsilon, name in _ROWS.items()]


def _score_charts(t: Texts) -> dict[str, Any]:
    """Return the scores for the stage, with the seeds of our small models as marks."""

    def draw(whose: str) -> tuple[dict[str, Any] | None, str]:
        rows = _measured(whose)
        if not rows:
            return None, t("lesson_regularisation.small_missing")
        drawn = _score_chart(whose, rows, t)
        none, some = rows[:2]
        words: dict[str, Any] = {}
        if whose == "small":
            for name, column in zip(MEASURES[::-1], drawn["columns"], strict=True):
                column["marks"] = [row["seeds"][name] for row in rows]
            verdicts = {name: t(f"lesson_regularisation.verdict_{none['verdict'][name]}") for name in MEASURES}
            seeds = len(none["seeds"]["bleu"])
            words = {"seeds": seeds, "perplexity": verdicts["perplexity"], "quality": verdicts["bleu"]}
        return drawn, t(
            f"lesson_regularisation.{whose}_say",
            epsilon=some["epsilon"],
            before=f"{none['perplexity']:.2f}",
            after=f"{some['perplexity']:.2f}",
            bleu=f"{none['bleu']:.1f}",
            later=f"{some['bleu']:.1f}",
            **words,
        )

    options = {whose: t(f"lesson_regularisation.{whose}_models") for whose in _WHOSE}
    return chart_set([("whose", t("lesson_regularisation.models"), options)], draw)


def _steps(translation: Translation) -> list[Step]:
    """Return the probability of each token of the translation, and its likeliest alternatives."""
    tokens = [*translation.tokens, "</s>"][: len(translation.scores)]
    return [
        {
            "token": token,
            "p": math.exp(score),
            "others": [(other, math.exp(log_p)) for other, log_p in alternatives if other != token][:4],
        }
        for token, score, alternatives in zip(tokens, translation.scores, translation.alternatives, strict=True)
    ]


def _small() -> list[dict[str, Any]]:
    """Return our small models without and with smoothing, several seeds each; empty while their file is missing.

    Means, with `seeds` and `interval` by measure, and of `verdict` whether the difference to epsilon = 0.1 goes as in
    the paper ("same"), the other way ("other"), or is not significant ("noise"); see `results.reduced_table`.
    """
    results = load_results()
    if results is None:
        return []
    rows = []
    for epsilon, name in _ROWS.items():
        scores = {measure: reduced_result(results, name, measure) for measure in MEASURES}
        intervals = {measure: mean_interval(results, name, measure) for measure in MEASURES}
        if any(each is None for each in (*scores.values(), *intervals.values())):
            return []
        rows.append(
            {
                "epsilon": epsilon,
                **{str(measure): each.mean for measure, each in scores.items() if each},
                "seeds": {measure: list(each.seeds) for measure, each in scores.items() if each},
                "interval": {measure: list(each) for measure, each in intervals.items() if each},
                "verdict": {measure: each.verdict for measure, each in scores.items() if each},
            }
        )
    return rows


def _vectors(translator: Translator, translation: Translation) -> FloatArray:
    """Return (places, SHOWN) first values of the first position, where dropout acts in training.

    The sub-layers of both first layers run one after the other, as in `EncoderLayer` and `DecoderLayer`.
    """
    import torch

    from transformer_core.data import make_batch
    from transformer_core.model.masks import causal_mask, padding_mask

    model, special = translator.model, translator.tokenizer.special
    batch = make_batch([translation.source_encoding.ids], [list(translation.hypotheses[0].ids)], special)
    mask = padding_mask(batch.source, special.pad)
    past = causal_mask(batch.inputs.shape[1])
    encoder: Any = model.encoder.layers[0]
    decoder: Any = model.decoder.layers[0]
    with torch.no_grad():
        source = model.embed(batch.source, of_source=True)
        attended = encoder.self_attention(source, source, mask)
        hidden = encoder.self_attention_add_norm(source, lambda _: attended)
        fed = encoder.feed_forward(hidden)
        memory = model.encode(batch.source, mask)
        target = model.embed(batch.inputs)
        looked_back = decoder.self_attention(target, target, past)
        below = decoder.self_attention_add_norm(target, lambda _: looked_back)
        looked_over = decoder.cross_attention(below, memory, mask)
        above = decoder.cross_attention_add_norm(below, lambda _: looked_over)
        outputs = (source, attended, fed, target, looked_back, looked_over, decoder.feed_forward(above))
    return np.stack([output[0, 0, :SHOWN].numpy() for output in outputs])
