"""Bench "Trace": attribution of each token to source tokens and earlier tokens, by every method.

Shape legend: M methods, S source tokens, T tokens of the translation, K words that are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.head import Head
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.benches.trace.contrast import contrasted, runners_up
from viz_app.lessons.lab.limits import check_work, pass_flops
from viz_app.lessons.lab.recipe import Recipe
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.analysis.attribution import Method

FloatArray = npt.NDArray[np.float32]

YARDSTICK: Method = "leave-one-out"
SLOW: Method = "integrated-gradients"
QUICK: tuple[Method, ...] = (
    *("attention", "rollout", "norm", "norm-ln", "alti", "gradient", "grad-x-input"),
    *(YARDSTICK, "flow"),
)
SIGNED = ("grad-x-input", SLOW, YARDSTICK, "flow")
ALIGNER = "best-head"  # attention again, of the head that aligns words best
APART = ("attention", ALIGNER, "norm", "norm-ln")  # source and target are two sub-layers, which no common whole joins
SIDES = ("source", "target")
WORDS = 3  # left out at most in the check
_POINTS_OF_PATH = 64  # of integrated gradients


@dataclass(frozen=True, eq=False)
class Traced:
    """One method.

    Args:
        source: (T, S).
        target: (T, T); columns are the decoder's inputs.
        agreement: Kendall's tau-b with leave-one-out over source words, mean over rows; NaN with one word.
        gap: The largest completeness gap of integrated gradients in nats; 0 for other methods.
    """

    source: FloatArray
    target: FloatArray
    agreement: float
    gap: float


def data(context: LessonContext) -> StageData:
    """Return the matrices of all methods, their agreement with leave-one-out, and the check of one if asked for."""
    method, _, slow, checked = _settings(context)
    attributions = _traced(context, slow)
    translation, tokenizer = context.result.translation, context.service.translator.tokenizer
    outputs = [*translation.hypotheses[0].ids, *([tokenizer.special.eos] if translation.finished else [])]
    tokens = list(tokenizer.tokens(outputs[: len(attributions[YARDSTICK].source)]))
    check = _check(context, method) if checked else None
    contrast = contrasted(context, slow)
    arrays = {side: np.stack([getattr(each, side) for each in attributions.values()]) for side in SIDES}
    answers: dict[str, Any] = {"slow": slow, "check": checked} | ({"method": method} if checked else {})
    if contrast is not None:
        arrays |= {f"contrast_{side}": getattr(contrast, side) for side in SIDES}
        answers |= {"row": contrast.asked.position, "rather": contrast.asked.other}
    return StageData(
        values={
            "methods": list(attributions),
            "signed": list(SIGNED),
            "apart": list(APART),
            "tokens": tokens,
            "source": list(context.tokens),
            "agreement": [_number(each.agreement) for each in attributions.values()],
            "measured": _measured(context, attributions),
            "gap": _number(attributions[SLOW].gap) if slow else None,
            "check": check,
            "others": runners_up(context),
            "contrast": contrast
            and {"row": contrast.asked.position, "tokens": contrast.tokens, "methods": contrast.methods},
        },
        arrays=arrays,
        answers=answers,
    )


def _names(context: LessonContext, *, slow: bool) -> tuple[str, ...]:
    """Name the methods as in settings and labels, with the best aligning head where it was measured."""
    first, *others = QUICK
    aligner = () if _aligner(context) is None else (ALIGNER,)
    return (first, *aligner, *others, *((SLOW,) if slow else ()))


def _aligner(context: LessonContext) -> Head | None:
    """Return the best aligner; None where it was not measured."""
    best, config = context.service.card.best_head, context.service.translator.config
    return best if best and best.layer < config.num_layers and best.head < config.num_heads else None


def _choice(context: LessonContext, name: str) -> dict[str, Any]:
    """Return the arguments of `attribute` for a method as settings name it."""
    if name != ALIGNER:
        return {"method": name} | ({"steps": _POINTS_OF_PATH} if name == SLOW else {})
    return {"method": "attention", "at": str(_aligner(context))}


def _settings(context: LessonContext) -> tuple[str, str, bool, bool]:
    slow = context.state.settings.get("slow") is True
    method = context.state.choice("method", "alti", _names(context, slow=slow))
    side = context.state.choice("side", SIDES[0], SIDES)
    return method, side, slow, context.state.settings.get("check") is True


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value


def _measured(context: LessonContext, methods: Iterable[str]) -> dict[str, Any]:
    """Return the measures of each method over many sentences, None where they are missing, and the sentence counts."""
    card = context.service.card
    errors, agreed = card.method_errors, card.method_agreement
    return {
        "errors": [errors.aer.get(name) if errors else None for name in methods],
        "taus": [agreed.tau.get(name) if agreed else None for name in methods],
        "linked": errors.sentences if errors else 0,
        "read": agreed.sentences if agreed else 0,
    }


def _traced(context: LessonContext, slow: bool) -> dict[str, Traced]:
    passes = pass_flops(context)
    left_out = passes.source_length * passes.whole + passes.target_length * passes.decoder
    gradients = passes.target_length * passes.whole
    check_work(left_out + (_POINTS_OF_PATH if slow else 2) * gradients)
    traces = context.compute_once(("lab.trace", context.source), _tracer(context, _names(context, slow=False)))
    if slow:
        traces = traces | context.compute_once(("lab.trace.slow", context.source), _tracer(context, (SLOW, YARDSTICK)))
    return {name: traces[name] for name in _names(context, slow=slow)}


def _tracer(context: LessonContext, methods: tuple[str, ...]) -> Callable[[ShouldStop], dict[str, Traced]]:
    translator, translation = context.service.translator, context.result.translation

    def compute(stop: ShouldStop) -> dict[str, Traced]:
        from transformer_core.analysis.attribution import POINTS, agreement, attribute
        from transformer_core.analysis.teacher_forced_run import teacher_forced_run

        run = teacher_forced_run(translator, context.source, translation, points=POINTS)
        by_name = {name: attribute(translator, run, **_choice(context, name), should_stop=stop) for name in methods}
        return {
            name: Traced(
                source=attribution.source.detach().numpy(),
                target=attribution.target.detach().numpy(),
                agreement=agreement(attribution, by_name[YARDSTICK]),
                gap=float(attribution.report["gap"].abs().max()) if "gap" in attribution.report else 0.0,
            )
            for name, attribution in by_name.items()
        }

    return compute


def _check(context: LessonContext, method: str) -> dict[str, list[float]]:
    """Measure how far the log-probability falls without the first words, random ones and the last words."""
    translator, translation = context.service.translator, context.result.translation

    def compute(stop: ShouldStop) -> dict[str, list[float]]:
        from transformer_core.analysis.attribution import attribute, faithfulness

        attribution = attribute(translator, context.source, translation, **_choice(context, method), should_stop=stop)
        check = faithfulness(translator, attribution, words=WORDS, should_stop=stop)
        return {name: getattr(check, name).tolist() for name in ("first", "random", "last")}

    return context.compute_once(("lab.trace.check", context.source, method), compute)


def recipe(context: LessonContext) -> Recipe:
    """Give the chosen method as a command and in Python."""
    method, _, slow, _ = _settings(context)
    contrast = contrasted(context, slow)
    asked_for = _choice(context, method)
    options, imported, more = ["--method", asked_for["method"]], "attribute", ""
    if at := asked_for.get("at"):
        options += ["--head", at]
        more = f", at={at!r}"
    if steps := asked_for.get("steps"):
        options += ["--steps", str(steps)]
        more = f", steps={steps}"
    if contrast is not None and method in contrast.methods:
        asked = contrast.asked
        options += ["--at", str(asked.position + 1), "--tokens", *contrast.tokens]
        imported = "Contrast, attribute"
        more += f", contrast=Contrast({asked.position}, {asked.token}, {asked.other})"
    return recipes.recipe(
        context,
        f"from transformer_core.analysis.attribution import {imported}",
        f"attribution = attribute(translator, source, method={asked_for['method']!r}{more})",
        "attribution.source  # (tokens generated, source tokens)",
        command=("attribute", *options),
        out="trace.npz",
    )


BENCH = Bench(data=data, recipe=recipe)
