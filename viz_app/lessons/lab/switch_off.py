"""Bench "Switch off": what each head does to the translation of the visitor's sentence, and the sentence without some.

Shape legend: N heads in the order of `ablation.all_heads`; T tokens of the translation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.ablation import Head, all_heads, translate_without
from transformer_core.attention_maps import KINDS
from viz_app.components.explorer import Selection
from viz_app.figures import MatrixFigure
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.example_pairs import example_pairs
from viz_app.lessons.lab.heads_of import heads_of_bits, named_head
from viz_app.lessons.lab.recipe import Recipe
from viz_app.serving.single_flight_cache import ShouldStop
from viz_app.serving.translation_service import BEAM

if TYPE_CHECKING:
    from transformer_core.analysis.head_effects import Change, HeadEffects

FloatArray = npt.NDArray[np.float32]

CHANGES = ("zero", "mean", "resample")
DRAWS = 4  # of resample and of random vectors; each draw costs as much as zero
_NO_PIECE = -1


def data(context: LessonContext) -> StageData:
    """Effects of all heads, random vectors beside them if asked for, and the translation without the chosen heads."""
    change, frozen, banded = _settings(context)
    checked = context.state.settings.get("check") is True
    found = _effects(context, change, frozen)
    effects = _stacked(found)
    arrays = {"effects": effects, "log_p": found.run.log_p.numpy()}
    if banded:
        draws = _draws(_effects(context, "random", frozen))
        arrays |= {"low": draws.min(axis=0), "high": draws.max(axis=0)}
        totals = draws.sum(axis=2)
        arrays |= {"total_low": totals.min(axis=0), "total_high": totals.max(axis=0)}
    digits, off = heads_of_bits(context, "off")
    without = _without(context, off)
    config = context.service.translator.config
    return StageData(
        values={
            "pieces": list(found.run.pieces),
            "text": found.run.text,
            "layers": config.num_layers,
            "heads": config.num_heads,
            "draws": DRAWS,
            "without": without,
            "check": _check(context, found, change, frozen) if checked else None,
        },
        arrays=arrays,
        answers={"change": change, "frozen": frozen, "band": banded, "check": checked, "off": digits},
    )


def _settings(context: LessonContext) -> tuple[Change, bool, bool]:
    settings = context.state.settings
    change: Any = context.state.choice("change", CHANGES[0], CHANGES)
    return change, settings.get("frozen") is True, settings.get("band") is True


def _effects(context: LessonContext, change: Change, frozen: bool) -> HeadEffects:
    from transformer_core.analysis.head_effects import head_effects

    translator, translation = context.service.translator, context.result.translation
    others = example_pairs(context) if change in ("mean", "resample") else ()
    return context.compute_once(
        ("lab.effects", context.source, change, frozen),
        lambda stop: head_effects(
            translator,
            context.source,
            translation,
            change=change,
            others=others,
            draws=DRAWS,
            frozen_norm=frozen,
            should_stop=stop,
        ),
    )


def _check(context: LessonContext, found: HeadEffects, change: Change, frozen: bool) -> dict[str, list[float]]:
    """By how much the log-probability falls without the heads named first, random ones, and the heads named last."""

    def compute(stop: ShouldStop) -> dict[str, list[float]]:
        from transformer_core.analysis.head_faithfulness import head_faithfulness

        check = head_faithfulness(context.service.translator, found, should_stop=stop)
        return {name: getattr(check, name).tolist() for name in ("first", "random", "last")}

    return context.compute_once(("lab.effects.check", context.source, change, frozen), compute)


def _stacked(found: HeadEffects) -> FloatArray:
    """(N, T) nats."""
    return np.concatenate([found.effects[kind].flatten(0, 1).numpy() for kind in KINDS])


def _draws(found: HeadEffects) -> FloatArray:
    """(draws, N, T) nats."""
    assert found.draws is not None
    return np.concatenate([found.draws[kind].flatten(1, 2).numpy() for kind in KINDS], axis=1)


def _without(context: LessonContext, off: list[Head]) -> dict[str, Any] | None:
    """The sentence translated without some heads; None while all are on."""
    if not off:
        return None
    translator, translation = context.service.translator, context.result.translation
    found = context.compute_once(
        ("heads.without", context.source, tuple(off)),
        lambda stop: translate_without(translator, translation, off, beam=BEAM, should_stop=stop),
    )
    return {"words": found.words, "original": found.original, "before": found.before, "after": found.log_probability}


def _shown(context: LessonContext) -> tuple[Head, int]:
    """The head that the bench shows, the one with the largest effect unless one was pressed, and the token or -1."""
    change, frozen, _ = _settings(context)
    effects = _stacked(_effects(context, change, frozen))
    piece = int(context.state.number("piece", _NO_PIECE, _NO_PIECE, effects.shape[1] - 1))
    values = effects.sum(axis=1) if piece < 0 else effects[:, piece]
    return named_head(context, "chosen") or all_heads(context.service.translator)[int(np.abs(values).argmax())], piece


def selection(context: LessonContext) -> Selection:
    """The head that is shown, for the page Translate."""
    kind, layer, head = _shown(context)[0]
    return Selection(kind=kind, layer=layer, head=head)


def figure(context: LessonContext) -> MatrixFigure:
    """The effect of every head on the translation, or on the token that was pressed."""
    t, (change, frozen, _) = context.t, _settings(context)
    found = _effects(context, change, frozen)
    piece = _shown(context)[1]
    values = _stacked(found).sum(axis=1) if piece < 0 else _stacked(found)[:, piece]
    layers, heads = found.effects["encoder"].shape[:2]
    title = t("lesson_lab.effect")
    if piece >= 0:
        title = t("lesson_lab.effect_of", token=found.run.pieces[piece].strip("\u2581"))
    return MatrixFigure(
        values=values.reshape(-1, heads),
        row_labels=[
            t("lesson_lab.row_layer", kind=t(f"lesson_lab.{kind}"), layer=layer + 1)
            for kind in KINDS
            for layer in range(layers)
        ],
        column_start=1,
        row_title=t("lesson_lab.rows"),
        column_title=t("lesson_lab.columns"),
        scale_title=title,
        diverging=True,
        language=t.language,
        caption=t("lesson_lab.figure_caption", text=found.run.text, change=t(f"lesson_lab.change_{change}")),
    )


def recipe(context: LessonContext) -> Recipe:
    """The effects from a shell and in Python."""
    change, frozen, _ = _settings(context)
    options = [] if change == "zero" else ["--change", change, "--sentences", "pairs.tsv"]
    options += ["--frozen-norm"] if frozen else []
    more = "" if change == "zero" else f", change={change!r}, others=[(english, translation), ...]"
    more += ", frozen_norm=True" if frozen else ""
    return Recipe(
        recipes.command("effects", context, *options, out="effects.npz"),
        recipes.python(
            context,
            ["from transformer_core.analysis.head_effects import head_effects"],
            f"found = head_effects(translator, source{more})",
            'found.effects["cross"]  # (layers, heads, tokens), in nats',
        ),
    )
