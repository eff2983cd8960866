"""Bench "Redirect": a head's row changed by hand, and what the model then finds probable and generates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.head import Head
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.benches.redirect.row_edits import Place, RowEdit, changed_rows, read_edits, unchanged_row
from viz_app.lessons.lab.comparison import compared
from viz_app.lessons.lab.heads import chosen_head, strongest_cell
from viz_app.lessons.lab.recipe import Recipe
from viz_app.serving.models.translation_service import BEAM
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.analysis.attention_override import AttentionOverride
    from transformer_core.attention_maps import AttentionMaps

FloatArray = npt.NDArray[np.float32]

SHOWN = 5  # tokens that are most probable, before and after


@dataclass(frozen=True, eq=False)
class Reading:
    """Probabilities of the translation with and without the changes.

    Args:
        tokens: Tokens of the translation.
        before: (T,) log-probability of each, unchanged.
        after: (T,) with the changes.
        tops: For each step the most probable tokens of both: token, probability before, after.
    """

    tokens: tuple[str, ...]
    before: FloatArray
    after: FloatArray
    tops: tuple[tuple[tuple[str, float, float], ...], ...]


def data(context: LessonContext) -> StageData:
    """Return the row before and after, the next token, all tokens, and the new translation if asked for."""
    settings = context.state.settings
    place, edits = _place(context), _edits(context)
    reading = _reading(context, edits)
    maps, config = context.result.maps, context.service.translator.config
    kind, layer, head, query = place
    before = unchanged_row(maps, place)
    changes = reading.after - reading.before
    step = int(context.state.number("token", -1, -1, len(changes) - 1))
    if step < 0:
        step = query if kind != "encoder" else int(np.abs(changes).argmax())
    written = settings.get("write") is True
    values = {
        "head": str(Head(kind, layer, head)),
        "layers": config.num_layers,
        "heads": config.num_heads,
        "queries": list(maps.queries(kind).tokens),
        "query": query,
        "keys": list(maps.keys(kind).tokens[: len(before)]),
        "tokens": list(reading.tokens),
        "text": context.result.translation.text,
        "sentences": len(context.service.example_texts),
        "edits": [_described(context, edit) for edit in edits],
        "step": step,
        "top": [list(each) for each in reading.tops[step]],
        "written": _written(context, edits) if written and edits else None,
    }
    after = _changed(context, edits).get(place, before)
    return StageData(
        values=values,
        arrays={
            "row_before": np.array(before, np.float32),
            "row_after": np.array(after, np.float32),
            "changes": changes,
            "log_p": reading.before,
        },
        answers={
            "chosen": settings.get("chosen", ""),
            "query": settings.get("query", -1),
            "edits": settings.get("edits", ""),
            "token": settings.get("token", -1),
            "write": written,
        },
    )


def _place(context: LessonContext) -> Place:
    """Return the row that is shown: of the chosen head, and of the chosen query or the one with the largest weight."""
    maps = context.result.maps
    head = chosen_head(context)
    count = maps.weights(head[0]).shape[2]
    query = int(context.state.number("query", -1, -1, count - 1))
    return (*head, query if query >= 0 else strongest_cell(maps, head)[0])


def _edits(context: LessonContext) -> list[RowEdit]:
    return read_edits(
        str(context.state.settings.get("edits", "")), context.result.maps, len(context.service.example_texts)
    )


def _changed(context: LessonContext, edits: list[RowEdit]) -> dict[Place, tuple[float, ...]]:
    def example(number: int) -> AttentionMaps:
        return context.service.translate(context.session, context.service.example_texts[number]).maps

    return changed_rows(edits, context.result.maps, example)


def _described(context: LessonContext, edit: RowEdit) -> dict[str, Any]:
    kind, layer, head, query = edit.place
    maps = context.result.maps
    return {
        "kind": kind,
        "layer": layer,
        "head": head,
        "query": maps.queries(kind).tokens[query],
        "action": edit.action,
        "key": maps.keys(kind).tokens[edit.number] if edit.action in "xow" else "",
        "sentence": context.service.example_texts[edit.number] if edit.action == "s" else "",
        "number": edit.number,
        "percent": edit.percent,
    }


def _redirects(context: LessonContext, edits: list[RowEdit]) -> tuple[AttentionOverride, ...]:
    from transformer_core.analysis.attention_override import AttentionOverride

    rows = _changed(context, edits).items()
    return tuple(AttentionOverride(str(Head(*place[:3])), place[3], row) for place, row in rows)


def _reading(context: LessonContext, edits: list[RowEdit]) -> Reading:
    translator, translation = context.service.translator, context.result.translation
    rows = _redirects(context, edits)

    def compute(_stop: ShouldStop) -> Reading:
        from transformer_core.analysis.attention_override import override_attention

        override = override_attention(translator, context.source, rows, translation)
        tops = []
        for before, after in zip(override.before.exp(), override.after.exp(), strict=True):
            ids = dict.fromkeys([*after.topk(SHOWN).indices.tolist(), *before.topk(SHOWN).indices.tolist()])
            tokens = translator.tokenizer.tokens(list(ids))
            tops.append(
                tuple((token, float(before[at]), float(after[at])) for token, at in zip(tokens, ids, strict=True))
            )
        return Reading(override.run.tokens, override.run.log_p.numpy(), override.log_p.numpy(), tuple(tops))

    return context.compute_once(("lab.redirect", context.source, rows), compute)


def _written(context: LessonContext, edits: list[RowEdit]) -> dict[str, Any]:
    """Translate again from the first changed query on; from the start after a change in the encoder."""
    translator, translation = context.service.translator, context.result.translation
    rows = _redirects(context, edits)
    prefix = min(0 if row.place.kind == "encoder" else row.query for row in rows)

    def compute(stop: ShouldStop) -> str:
        from transformer_core.analysis.attention_override import continue_decoding

        return continue_decoding(
            translator, context.source, rows, translation, prefix_length=prefix, beam=BEAM, should_stop=stop
        ).text

    return compared(translation.text, context.compute_once(("lab.redirect.text", context.source, rows), compute))


def recipe(context: LessonContext) -> Recipe:
    """Give the rows in Python."""
    rows = _redirects(context, _edits(context))
    written = [
        f"    AttentionOverride({row.head!r}, {row.query}, ({', '.join(f'{weight:.6f}' for weight in row.weights)},)),"
        for row in rows
    ]
    return recipes.recipe(
        context,
        "from transformer_core.analysis.attention_override import AttentionOverride, override_attention",
        *(["rows = [", *written, "]"] if written else ["rows = []"]),
        "override = override_attention(translator, source, rows)",
        "override.log_p - override.run.log_p  # the change for each token, in nats",
    )


BENCH = Bench(data=data, recipe=recipe, head=chosen_head)
