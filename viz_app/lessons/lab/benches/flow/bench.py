"""Bench "Made of": the flow of each token, and what its edges do when they are cut.

Shape legend: S source tokens, T tokens of the translation, R random orders, C cuts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.limits import check_work, pass_flops
from viz_app.lessons.lab.recipe import Recipe
from viz_app.lessons.parts_of_logit import parts_of_logit
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.analysis.flow import Cuts

FloatArray = npt.NDArray[np.float32]

MEAN, RIVAL = "mean", "rival"
RANDOM_ORDERS = 3
SEED = 0


@dataclass(frozen=True, eq=False)
class Flows:
    """Flow of a translation.

    Args:
        tokens: That were generated.
        rivals: The most probable other token at each step.
        parts: (T, S + T + 2) of each token, against the mean of the vocabulary.
    """

    tokens: tuple[str, ...]
    rivals: tuple[str, ...]
    parts: FloatArray


def data(context: LessonContext) -> StageData:
    """Return the parts of every token, and the cuts of the chosen one; also its parts against its rival."""
    flows, at = _flows(context), _position(context)
    parts, cuts = _cut(context)
    against = _against(context)
    arrays = {
        "flow_parts": flows.parts,
        "flow_cuts": np.stack([cuts.flow, cuts.attention, *cuts.random]).astype(np.float32),  # (2 + R, C)
    }
    return StageData(
        values={
            "source": list(context.tokens),
            "outputs": list(flows.tokens),
            "rivals": list(flows.rivals),
            "start": _start(context),
            "word": at,
            "against": against,
            "edges": cuts.edges,
            "shares": list(cuts.shares),
            "log_p": cuts.log_p,
        },
        arrays=arrays if against == MEAN else arrays | {"flow_rival": parts},
        answers={"word": context.state.settings.get("word", -1), "against": against},
    )


def _against(context: LessonContext) -> str:
    return context.state.choice("against", MEAN, (MEAN, RIVAL))


def _position(context: LessonContext) -> int:
    """Return the position of the chosen token."""
    at = round(context.state.number("word", -1, -1, pass_flops(context).target_length - 1))
    return _start(context) if at < 0 else at


def _start(context: LessonContext) -> int:
    """Return the position of the word nearest to the middle."""
    tokens = context.service.translator.tokenizer.tokens(context.result.translation.hypotheses[0].ids)
    words = [at for at, token in enumerate(tokens) if any(map(str.isalnum, token))]
    return min(words, key=lambda at: abs(at - len(tokens) / 2), default=0)


def _rival(context: LessonContext) -> str | None:
    return None if _against(context) == MEAN else _flows(context).rivals[_position(context)]


def _flows(context: LessonContext) -> Flows:
    translator, translation = context.service.translator, context.result.translation
    passes = pass_flops(context)
    check_work(2 * passes.target_length * passes.whole)

    def compute(stop: ShouldStop) -> Flows:
        from transformer_core.analysis.flow import POINTS, flows
        from transformer_core.analysis.teacher_forced_run import stop_check, teacher_forced_run

        check = stop_check(stop)
        run = teacher_forced_run(translator, context.source, translation, points=POINTS)
        logits = run.captured["decoder.logits"][0].clone()  # (T, V)
        logits.scatter_(1, run.outputs[:, None], -np.inf)
        parts = []
        for each in flows(translator, run):
            check()
            parts.append(parts_of_logit(each))
        return Flows(run.tokens, translator.tokenizer.tokens(logits.argmax(dim=1).tolist()), np.stack(parts))

    return context.compute_once(("lab.flow", context.source), compute)


def _cut(context: LessonContext) -> tuple[FloatArray, Cuts]:
    """Return the parts (S + T + 2,) of the chosen token as it is compared, and its cuts."""
    translator, translation = context.service.translator, context.result.translation
    at, rival = _position(context), _rival(context)
    check_work((4 * (2 + RANDOM_ORDERS) + 3) * pass_flops(context).whole)

    def compute(stop: ShouldStop) -> tuple[FloatArray, Cuts]:
        from transformer_core.analysis.flow import POINTS, cut_edges, flows
        from transformer_core.analysis.teacher_forced_run import teacher_forced_run

        run = teacher_forced_run(translator, context.source, translation, points=POINTS)
        (flow,) = flows(translator, run, [at], against=rival)
        cuts = cut_edges(translator, flow, random_orders=RANDOM_ORDERS, seed=SEED, should_stop=stop)
        return parts_of_logit(flow), cuts

    return context.compute_once(("lab.flow.cut", context.source, at, rival), compute)


def recipe(context: LessonContext) -> Recipe:
    """Give the flow as a command, and the cuts in Python."""
    at, rival = _position(context), _rival(context)
    against = "" if rival is None else f", against={rival!r}"
    return recipes.recipe(
        context,
        "from transformer_core.analysis.flow import cut_edges, flow",
        f"flow_of_token = flow(translator, source, {at}{against})",
        f"cuts = cut_edges(translator, flow_of_token, random_orders={RANDOM_ORDERS}, seed={SEED})",
        "cuts.flow  # nats, without the first shares of the edges: cuts.shares",
        command=("flow", "--at", str(at + 1), *(() if rival is None else ("--against", rival))),
        out="flow.npz",
    )


BENCH = Bench(data=data, recipe=recipe)
