"""Lesson "Regularisation" (Section 5.4): label smoothing on a real translation, and the places of dropout."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.presets import PRESETS
from viz_app.figures import CurvesFigure, Series
from viz_app.figures.spec import Figure
from viz_app.services.lessons.context import Context, Data
from viz_app.services.small import SmallUnavailable, journals, measured

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator

# Section 5.4, in the order of Figure 1: on the sums of embeddings and positions, and on the output of each sub-layer.
PLACES = ("source", "encoder_self", "encoder_feed", "target", "decoder_self", "cross", "decoder_feed")
_PARTS = ("embedding", "self", "feed", "embedding", "masked", "cross", "feed")  # their names in the texts
SHOWN = 48  # values of a vector that fit on the stage
QUESTION = 0.2  # epsilon of the last scene

# Table 3, base and row (D): newstest2013, perplexity per piece and BLEU.
_PAPER = ((0.0, 4.67, 25.3), (0.1, 4.92, 25.8), (0.2, 5.47, 25.7))
_MOST_SENTENCES = 64

FloatArray = npt.NDArray[np.float32]
_vectors_of: OrderedDict[tuple[str, str], FloatArray] = OrderedDict()


def data(context: Context) -> Data:
    """What the model says at each place of the translation, measured scores, and vectors where dropout would act."""
    translator, translation = context.service.translator, context.result.translation
    vectors = _vectors(translator, translation)
    vocabulary = translator.config.vocab_size
    return Data(
        values={
            "vocabulary": vocabulary,
            "vocabularies": {"own": vocabulary, "paper": PRESETS["base"].model.vocab_size},
            "steps": _steps(translation),
            "measured": {"paper": [_row(*scores) for scores in _PAPER], "small": _small()},
            "places": list(PLACES),
            "own_dropout": translator.metrics.get("training", {}).get("dropout", translator.config.dropout),
            "question": QUESTION,
        },
        arrays={"vectors": vectors, "drawn": np.random.default_rng(0).random(vectors.shape)},
    )


def figure(scene: str, context: Context) -> Figure | None:
    """The loss against the probability of the right piece; a vector before and after dropout."""
    if scene == "dropout":
        return _dropped(context)
    if scene != "loss":
        return None
    epsilon = context.state.number("epsilon", 0.1, 0.0, 0.3)
    own, paper = context.service.translator.config.vocab_size, PRESETS["base"].model.vocab_size
    vocabulary = int(context.state.choice("size", str(own), (str(own), str(paper))))
    p = np.linspace(0.02, 0.999, 400)
    smoothed = smoothed_loss(p, epsilon, vocabulary)
    return CurvesFigure(
        series=(
            Series(x=p, y=-np.log(p), label="\u03b5 = 0", dashed=True),
            Series(x=p, y=smoothed, label=f"\u03b5 = {epsilon:g}"),
        ),
        x_title=context.t("lesson_regularisation.right_axis"),
        y_title=context.t("lesson_regularisation.loss_axis"),
        language=context.t.language,
    )


def _dropped(context: Context) -> CurvesFigure:
    """The values at one place of dropout, and what one draw leaves of them."""
    numbers, t = data(context).arrays, context.t
    p = context.state.number("p", 0.1, 0.0, 0.5)
    place = int(context.state.number("place", 1, 1, len(PLACES))) - 1
    values, kept = numbers["vectors"][place], numbers["drawn"][place] >= p
    x = np.arange(len(values))
    after = t("lesson_regularisation.after", p=f"{p:.2f}")
    return CurvesFigure(
        series=(
            Series(x=x, y=values, label=t("lesson_regularisation.before"), dashed=True),
            Series(x=x, y=np.where(kept, values / (1 - p), 0.0), label=after),
        ),
        x_title=t("lesson_regularisation.column"),
        y_title=t(f"lesson_regularisation.part_{_PARTS[place]}"),
        language=t.language,
    )


def smoothed_loss(p: npt.NDArray[np.float64], epsilon: float, vocabulary: int) -> npt.NDArray[np.float64]:
    """Loss in nats of a model that gives the right piece p and all others the same."""
    return -((1 - epsilon) * np.log(p) + epsilon * np.log((1 - p) / (vocabulary - 1)))


def _steps(translation: Translation) -> list[dict[str, Any]]:
    """For each piece of the translation its probability, and the likeliest others with theirs."""
    pieces = [*translation.pieces, "</s>"][: len(translation.scores)]
    return [
        {
            "piece": piece,
            "p": math.exp(score),
            "others": [[other, math.exp(log_p)] for other, log_p in alternatives if other != piece][:4],
        }
        for piece, score, alternatives in zip(pieces, translation.scores, translation.alternatives, strict=True)
    ]


def _row(epsilon: float, perplexity: float, bleu: float) -> dict[str, float]:
    return {"epsilon": epsilon, "perplexity": perplexity, "bleu": bleu}


def _small() -> list[dict[str, float]]:
    """Our small models without and with smoothing; none while their files are missing, which the stage says."""
    try:
        scores, courses = measured(), journals()
    except SmallUnavailable:
        return []
    return [
        _row(float(courses[name].training["label_smoothing"]), math.exp(scores[name].nll), scores[name].bleu)
        for name in ("smoothing-0", "base")
    ]


def _vectors(translator: Translator, translation: Translation) -> FloatArray:
    """(places, SHOWN) first values of the first position, where dropout acts in training; kept for a few sentences."""
    key = (translator.checkpoint_hash, translation.source)
    if key not in _vectors_of:
        _vectors_of[key] = _compute(translator, translation)
        while len(_vectors_of) > _MOST_SENTENCES:
            _vectors_of.popitem(last=False)
    return _vectors_of[key]


def _compute(translator: Translator, translation: Translation) -> FloatArray:
    """The sub-layers of both first layers, one after the other, as `EncoderLayer` and `DecoderLayer` run them."""
    import torch

    from transformer_core.data import make_batch
    from transformer_core.masks import causal_mask, padding_mask

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
