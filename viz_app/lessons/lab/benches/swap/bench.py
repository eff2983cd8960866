"""Bench "Swap": activation patching between two sentences that differ in little."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_core.analysis.ablation import Head
from transformer_core.attention_maps import KINDS
from transformer_core.text.tokenizer import BOS_TOKEN
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.benches.swap.minimal_pairs import minimal_pairs
from viz_app.lessons.lab.comparison import compared
from viz_app.lessons.lab.heads import named_head
from viz_app.lessons.lab.limits import MAX_TOKENS, PassFlops, check_work
from viz_app.lessons.lab.recipe import Recipe
from viz_app.serving.models.translation_service import BEAM
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.analysis.patching import Cell, Direction, Patching, PatchSite

OWN = "own"
SITES = ("heads", "residual", "ffn")
DIRECTIONS = ("denoise", "noise")
STACKS = ("encoder", "decoder")
_CELL = re.compile(r"([01])\.([0-9]{1,2})\.([0-9]{1,3})")


@dataclass(frozen=True)
class Setup:
    """Comparison that the visitor asks for.

    Args:
        pair: Name of a minimal pair, or `own`.
        clean: The sentence.
        corrupted: The other one; "" while the visitor has not written it.
        site: Values that are patched.
        direction: Of the patching.
    """

    pair: str
    clean: str
    corrupted: str
    site: PatchSite
    direction: Direction

    @property
    def translated(self) -> int:
        """Number of the sentence that is translated: 1 for the corrupted one, or 0."""
        return 1 if self.direction == "denoise" else 0


def data(context: LessonContext) -> StageData:
    """Return the share that each value recovers and the translation with one patched, or why there are none."""
    setup = _setup(context)
    foreign = setup.pair != OWN and context.text not in _pairs(context)[setup.pair]
    answers = {"pair": setup.pair, "site": setup.site, "direction": setup.direction,
               "other": str(context.state.settings.get("other", "")), "cell": ""}  # fmt: skip
    values: dict[str, Any] = {"pair": setup.pair, "clean": setup.clean, "corrupted": setup.corrupted, "problem": None}
    values["foreign"] = foreign
    patching = _patching(context, setup)
    if isinstance(patching, str):
        return StageData(values=values | {"problem": patching}, answers=answers)
    cell = _cell(context, patching)
    config = context.service.translator.config
    values |= {
        "texts": list(patching.texts),
        "answers": list(patching.answers),
        "prefix": list(patching.prefix),
        "source": list(patching.source),
        "inputs": [BOS_TOKEN, *patching.prefix],
        "metrics": [patching.metric_clean, patching.metric_corrupted],
        "layers": config.num_layers,
        "heads": config.num_heads,
        "site": setup.site,
        "direction": setup.direction,
        "cell": list(cell),
        "patched": compared(patching.texts[setup.translated], _text(context, setup, cell)),
    }
    recovered = np.nan_to_num(patching.recovered.numpy())
    metrics = np.nan_to_num(patching.metrics.numpy())
    return StageData(
        values=values,
        arrays={"recovered": recovered, "metrics": metrics},
        answers=answers | {"cell": str(context.state.settings.get("cell", ""))},
    )


def choices(context: LessonContext) -> dict[str, Any]:
    """Offer the minimal pairs that the model reads, and the visitor's own."""
    return {"pairs": [*_pairs(context), OWN]}


def _pairs(context: LessonContext) -> Mapping[str, tuple[str, str]]:
    """Return the minimal pairs; one that has the visitor's sentence comes first."""
    pairs = minimal_pairs(context.service.parses, context.service.source_language)
    return dict(sorted(pairs.items(), key=lambda named: context.text not in named[1]))


def _setup(context: LessonContext) -> Setup:
    state, pairs = context.state, _pairs(context)
    names = (*pairs, OWN)
    pair = state.choice("pair", names[0], names)
    clean, corrupted = map(context.service.source_text, pairs.get(pair, (context.text, "")))
    if pair == OWN:
        typed = str(state.settings.get("other", ""))
        checked = context.service.validate(typed, MAX_TOKENS)
        corrupted = checked.source if checked.status == "good" else ""
    site: Any = state.choice("site", SITES[0], SITES)
    direction: Any = state.choice("direction", DIRECTIONS[0], DIRECTIONS)
    return Setup(pair, clean, corrupted, site, direction)


def _patching(context: LessonContext, setup: Setup) -> Patching | str:
    """Return the result, or why there is none: `empty`, or a reason of `PatchingError`."""
    if not setup.corrupted:
        return "empty"
    translator = context.service.translator
    config, source = translator.config, len(translator.tokenizer.source.encode(setup.corrupted).ids) + 1
    values = config.num_layers * (len(KINDS) * config.num_heads if setup.site == "heads" else source + 1)
    check_work(values * PassFlops.from_lengths(config, source, 1).whole)  # at least: the translations may part later

    def compute(stop: ShouldStop) -> Patching | str:
        from transformer_core.analysis.minimal_pairs import PatchingError
        from transformer_core.analysis.patching import patching

        try:
            return patching(
                translator,
                setup.clean,
                setup.corrupted,
                site=setup.site,
                direction=setup.direction,
                should_stop=stop,
            )
        except PatchingError as error:
            return error.reason

    return context.compute_once(("lab.swap", setup), compute)


def _cell(context: LessonContext, patching: Patching) -> Cell:
    """Return the cell that was pressed, else the one that recovers most."""
    recovered = patching.recovered
    match = _CELL.fullmatch(str(context.state.settings.get("cell")))
    head = named_head(context, "cell") if len(recovered) == len(KINDS) else None
    if head:
        return KINDS.index(head.kind), head.layer, head.head
    if match and len(recovered) != len(KINDS):
        place, layer, at = (int(part) for part in match.groups())
        inside = all(number < size for number, size in zip((place, layer, at), recovered.shape, strict=True))
        if inside and not recovered[place, layer, at].isnan():
            return place, layer, at
    best = int(recovered.nan_to_num(-1e9).argmax())
    place, layer, at = (int(number) for number in np.unravel_index(best, tuple(recovered.shape)))
    return place, layer, at


def _text(context: LessonContext, setup: Setup, cell: Cell) -> str:
    """Translate with this value patched in."""
    translator = context.service.translator

    def compute(stop: ShouldStop) -> str:
        from transformer_core.analysis.patching import translate_patched

        return translate_patched(
            translator,
            setup.clean,
            setup.corrupted,
            cell,
            site=setup.site,
            direction=setup.direction,
            beam=BEAM,
            should_stop=stop,
        ).text

    return context.compute_once(("lab.swap.text", setup, cell), compute)


def head(context: LessonContext) -> Head | None:
    """Return the head that is shown; None where positions are."""
    setup = _setup(context)
    patching = _patching(context, setup)
    if setup.site != "heads" or isinstance(patching, str):
        return None
    place, layer, number = _cell(context, patching)
    return Head(KINDS[place], layer, number)


def recipe(context: LessonContext) -> Recipe | None:
    """Give the patching as a command and in Python."""
    setup = _setup(context)
    if not setup.corrupted:
        return None
    pair = f"{setup.clean!r}, {setup.corrupted!r}"
    options = ("--clean", setup.clean, "--corrupted", setup.corrupted, "--site", setup.site)
    return recipes.recipe(
        context,
        "from transformer_core.analysis.patching import patching",
        f"patched = patching(translator, {pair}, site={setup.site!r}, direction={setup.direction!r})",
        "patched.recovered  # 0: nothing comes with it; 1: all",
        command=("patch", *options, "--direction", setup.direction),
        out="swap.npz",
    )


BENCH = Bench(data=data, recipe=recipe, head=head, choices=choices)
