"""Bench "One head after the other": the translation while heads are switched off in turn, a cumulative ablation.

Shape legend: N heads in the order of `ablation.all_heads`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transformer_core.analysis.ablation import Head, all_heads
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.benches.off.head_layers import all_layers, flops_of_layers
from viz_app.lessons.lab.comparison import compared
from viz_app.lessons.lab.limits import check_work, pass_flops
from viz_app.lessons.lab.recipe import Recipe
from viz_app.serving.models.translation_service import BEAM

if TYPE_CHECKING:
    from transformer_core.analysis.effects.cumulative_ablation import CumulativeAblation, Order

ORDERS = ("effect", "gradient")
RANDOM_ORDERS = 3


def data(context: LessonContext) -> StageData:
    """Return the log-probability at every step, in the chosen order and in random orders, and the translations."""
    curve = _measured(context)
    heads = all_heads(context.service.translator)
    config = context.service.translator.config
    return StageData(
        values={
            "text": curve.run.text,
            "tokens": len(curve.run.tokens),
            "layers": config.num_layers,
            "heads": config.num_heads,
            "order": [heads.index(head) for head in curve.heads],
            "texts": [{"count": count, **compared(curve.run.text, text)} for count, text in curve.texts],
        },
        arrays={"log_p": curve.log_p.numpy(), "random": curve.random.numpy()},
        answers={"order": _order(context)},
    )


def _order(context: LessonContext) -> Order:
    return context.state.choice("order", ORDERS[0], ORDERS)  # type: ignore[return-value]


def _measured(context: LessonContext) -> CumulativeAblation:
    from transformer_core.analysis.effects.cumulative_ablation import cumulative_ablation

    translator, translation, order = context.service.translator, context.result.translation, _order(context)
    alone = flops_of_layers(context, all_layers(context)) if order == "effect" else 0.0
    check_work(alone + len(all_heads(translator)) * pass_flops(context).whole)
    return context.compute_once(
        ("lab.cumulative", context.source, order),
        lambda stop: cumulative_ablation(
            translator,
            context.source,
            translation,
            order=order,
            random_orders=RANDOM_ORDERS,
            beam=BEAM,
            should_stop=stop,
        ),
    )


def head(context: LessonContext) -> Head | None:
    """Return the head that was switched off last."""
    heads = _measured(context).heads
    gone = int(context.state.number("gone", 0, 0, len(heads)))
    return heads[gone - 1] if gone else None


def recipe(context: LessonContext) -> Recipe:
    """Give the cumulative ablation as a command and in Python."""
    order = _order(context)
    options = ("--order", order, "--random-orders", str(RANDOM_ORDERS))
    return recipes.recipe(
        context,
        "from transformer_core.analysis.effects.cumulative_ablation import cumulative_ablation",
        f"curve = cumulative_ablation(translator, source, order={order!r}, random_orders={RANDOM_ORDERS})",
        "curve.log_p  # (heads + 1,), in nats",
        command=("cumulative-ablation", *options),
        out="cumulative.npz",
    )


BENCH = Bench(data=data, recipe=recipe, head=head)
