"""Lesson "Head by head" (Section 3.2.2): what the heads of this model do, apart and together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import KINDS, Axis, Kind
from transformer_core.head import Head, head_named
from transformer_core.paper.flops import Work, forward_flops, parameters
from transformer_core.paper.presets import PRESETS
from viz_app.components.explorer.selection import Selection
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.heads import head_measures
from viz_app.lessons.heads.at_rest import rest_values
from viz_app.lessons.heads.looking import looking_values
from viz_app.lessons.heads.made_of import made_of
from viz_app.lessons.heads.one_by_one import one_by_one
from viz_app.lessons.heads.paper_heads import paper_selection, paper_values
from viz_app.lessons.heads.small_heads import small_heads
from viz_app.lessons.results.paper_results import lines_by_heads
from viz_app.lessons.small_target import small_target
from viz_app.lessons.stage.state import Setting
from viz_app.serving.models.head_roles import ROLES_KEY, role_tables

if TYPE_CHECKING:
    from transformer_core.analysis.roles import HeadRole, RoleTable

POSITIONS = 28  # of a map that are shown; a longer sentence shows its first tokens

_WORK = Work(sentences=1, source_length=25, target_length=25)  # a sentence of usual length
_ROLES = ("previous", "next", "self", "separator", "aligner")
_NEAR = 1e-3  # an address keeps six digits of a number


def data(context: LessonContext) -> StageData:
    """Return maps, roles, and the measurements of the open scene."""
    maps, tables = context.result.maps, _tables(context)
    layer, kind = _layer(context)
    parts = _parts(context, kind, layer)
    small_read = context.state.scene == "one"  # two more models, so only where they are shown
    small, small_arrays = small_heads(context, small_target(context), POSITIONS) if small_read else (None, {})
    bytes_of = head_measures.truncate_maps(maps, POSITIONS)
    alone = one_by_one(context)
    arrays: dict[str, npt.NDArray[Any]] = {
        **bytes_of,
        **small_arrays,
        "head_outputs": parts.heads[:, :POSITIONS],
        "parts": parts.parts[:, :POSITIONS],
        "output": parts.output[:POSITIONS],
        "matrix": parts.matrix,
    }
    if alone is not None:
        arrays |= {"changes": alone.changes, "same": alone.same.astype(np.uint8)}
    looking = None
    if context.state.scene == "looking":
        looking, looking_arrays = looking_values(context)
        arrays |= looking_arrays
    made = None
    if context.state.scene == "flow":
        made, made_arrays = made_of(context)
        arrays |= made_arrays
    rest = sink = None
    if context.state.scene == "rest":
        rest, rest_arrays = rest_values()
        whole = (context.service.translator, context.result.translation, maps)
        sink = context.compute_once(("heads.sink", context.source), lambda _: head_measures.strongest_sink(*whole))
        arrays |= rest_arrays
    labels = {"source": maps.source, "inputs": maps.inputs, "outputs": maps.outputs}
    return StageData(
        values={
            "axes": {name: _labels(axis) for name, axis in labels.items()},
            "cut": max(len(axis) for axis in labels.values()) > POSITIONS,
            "roles": {kind: _roles(table) for kind, table in tables.items()},
            "tour": [_role_values(role) for role in tour(tables)],
            "rows": rows_of_table_3(),
            "small": small,
            "small_read": small_read,
            "parts": {
                "kind": kind,
                "layer": layer,
                "error": parts.error,
                "twins": head_measures.twins(maps.weights(kind)[layer], parts.parts),
            },
            "looking": looking,
            "made": made,
            "rest": rest,
            "sink": sink,
            "paper": paper_values(context),
            "penalty": context.t("roles.penalty") if context.service.head_penalty else "",
            "rest_read": context.state.scene == "rest",
            "alone": None
            if alone is None
            else {"text": alone.text, "same": int(alone.same.sum()), "heads": len(alone.same)},
        },
        arrays=arrays,
        answers={"layer": layer, "kind": kind},
    )


def _labels(axis: Axis) -> list[str]:
    return list(axis.tokens[:POSITIONS])


def _roles(table: RoleTable) -> list[list[dict[str, Any]]]:
    layers, heads = table.shares.shape[1:]
    return [[_role_values(table.likeliest(layer, head)) for head in range(heads)] for layer in range(layers)]


def _role_values(role: HeadRole) -> dict[str, Any]:
    """Return a role as plain values."""
    shares = {name: round(getattr(role, name), 4) for name in ("share", "at_least", "weight", "chance")}
    standing = "named" if role.named else "leans" if role.leans else "none"
    named = {name: getattr(role, name) for name in ("role", "kind", "layer", "head", "places")}
    return named | shares | {"standing": standing}


def tour(tables: Mapping[Kind, RoleTable]) -> list[HeadRole]:
    """Find the best head of each role, of any kind."""
    best_heads: dict[str, HeadRole] = {}
    for table in tables.values():
        for role in table.roles:
            best = table.best(role)
            if role not in best_heads or best.share > best_heads[role].share:
                best_heads[role] = best
    return [best_heads[role] for role in _ROLES if role in best_heads]


def _tables(context: LessonContext) -> dict[Kind, RoleTable]:
    translator = context.service.translator
    return context.compute_once(ROLES_KEY, lambda stop: role_tables(translator, stop, context.service.example_texts))


def rows_of_table_3() -> list[dict[str, float]]:
    """Return the models of Table 3, row A: their cost by the formulas, and the paper's scores."""
    rows = []
    for line in lines_by_heads():
        config = PRESETS[line.preset].model
        rows.append(
            {
                "heads": config.num_heads,
                "d_k": config.d_k,
                "parameters": parameters(config),
                "flops": forward_flops(config, _WORK),
                "perplexity": line.perplexity,
                "bleu": line.bleu,
            }
        )
    return rows


def _layer(context: LessonContext) -> tuple[int, Kind]:
    """Return the layer and the kind that the scene on W^O decomposes."""
    layers = context.service.translator.config.num_layers
    layer = int(context.state.number("layer", layers, 1, layers)) - 1
    kind = context.state.choice("kind", "cross", KINDS)
    return layer, kind  # type: ignore[return-value]


def _parts(context: LessonContext, kind: Kind, layer: int) -> head_measures.LayerDecomposition:
    translator, translation = context.service.translator, context.result.translation
    key = ("heads.parts", context.source, kind, layer)
    return context.compute_once(key, lambda _: head_measures.decompose_layer(translator, translation, kind, layer))


def prepared(scene: str, context: LessonContext) -> Iterator[Mapping[str, Setting]]:
    """List every layer of the scene on W^O, the one that it opens with first."""
    if scene == "concat":
        layers = range(context.service.translator.config.num_layers, 0, -1)
        yield from ({"kind": kind, "layer": layer} for kind in reversed(KINDS) for layer in layers)


def selection(scene: str, context: LessonContext) -> Selection | None:
    """Return the head that the open scene shows, for the page Translate."""
    if scene == "paper":
        return paper_selection(context)
    if scene != "tour":
        return None
    kind, layer, head = _visited(context)
    return Selection(kind=kind, layer=layer, head=head)


def _visited(context: LessonContext) -> Head:
    """Return the pressed head, else the head of the tour."""
    state = context.state
    config = context.service.translator.config
    here = abs(state.number("pickedat", -1, -1, 99) - state.number("at", 0, 0, 99)) < _NEAR
    if here:
        with contextlib.suppress(ValueError):
            return head_named(str(state.settings.get("picked")), config.num_layers, config.num_heads)
    stops = tour(_tables(context))
    role = stops[min(int(state.number("at", 0, 0, len(stops)) + _NEAR), len(stops) - 1)]
    return Head(role.kind, role.layer, role.head)
