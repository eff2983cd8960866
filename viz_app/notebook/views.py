"""A figure and a short table for each kind of result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
from torch import Tensor

from transformer_core.analysis.attention_sinks import most_informative_head
from transformer_core.analysis.attribution.methods import Attribution
from transformer_core.analysis.circuit.curve import Faithfulness
from transformer_core.analysis.circuit.result import Circuit
from transformer_core.analysis.effects.cumulative_ablation import CumulativeAblation
from transformer_core.analysis.effects.direct_effects import DirectEffects
from transformer_core.analysis.effects.head_effects import HeadEffects
from transformer_core.analysis.effects.part_effects import PartEffects
from transformer_core.analysis.flow import Flow
from transformer_core.analysis.lens import LogitLens
from transformer_core.analysis.patching import STACKS, Patching
from transformer_core.attention_maps import KINDS, AttentionMaps, Kind
from transformer_core.translator import TeacherForcedOutput, Translation
from viz_app.components.explorer.selection import Selection
from viz_app.export.provenance import make_provenance
from viz_app.figures import VIEWS, CurvesFigure, Figure, FlowFigure, Flows, MatrixFigure, Series, heatmap
from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.figure import display_label
from viz_app.figures.model.flow import number
from viz_app.figures.text.flow_captions import largest_parts
from viz_app.text import texts

LISTED = 5  # rows of a table


@dataclass(frozen=True)
class ResultView:
    """View of a result.

    Args:
        figure: Its figure.
        columns: Titles of the table.
        rows: Rows of the table, at most LISTED.
        large: A figure with more in it, for a frame of its own; None for the same.
    """

    figure: Figure
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    large: Figure | None = None


@singledispatch
def view_of(shown: object, language: str = "en", theme: Theme = "light") -> ResultView:
    """Return the view of a result.

    Args:
        shown: Translation, attention maps, effects, attribution, flow, lens or patching.
        language: "en" or "ko".
        theme: Of the figure.

    Raises:
        TypeError: There is no view of it.
    """
    raise TypeError(f"{type(shown).__name__} has no view; translations, attention maps and results of analysis have")


@view_of.register
def _(shown: Translation, language: str = "en", theme: Theme = "light") -> ResultView:
    t = texts(language)
    decode = shown._translator.tokenizer.decode
    rows = [(decode(each.ids), f"{each.log_probability:.2f}") for each in shown.hypotheses[:LISTED]]
    figure = _head(shown.attention, language, theme, make_provenance(shown._translator, shown))
    return ResultView(figure, (t("notebook.translation"), t("notebook.log_p")), rows)


@view_of.register
def _(shown: AttentionMaps, language: str = "en", theme: Theme = "light") -> ResultView:
    t = texts(language)
    columns = [t(f"notebook.{name}") for name in ("attention", "layer", "head", "queries", "keys")]
    rows = [(t(f"figures.kind_{kind}"), *map(str, shown.weights(kind).shape)) for kind in shown.kinds]
    return ResultView(_head(shown, language, theme, {}), columns, rows)


@view_of.register
def _(shown: TeacherForcedOutput, language: str = "en", theme: Theme = "light") -> ResultView:
    t = texts(language)
    rows = [(shown.text, f"{shown.log_probability:.2f}")]
    figure = _head(shown.attention, language, theme, {})
    return ResultView(figure, (t("notebook.translation"), t("notebook.log_p")), rows)


@view_of.register
def _(shown: HeadEffects, language: str = "en", theme: Theme = "light") -> ResultView:
    sums = {kind: values.sum(dim=2) for kind, values in shown.effects.items()}
    return _heads(sums, "effect", language, theme)


@view_of.register
def _(shown: DirectEffects, language: str = "en", theme: Theme = "light") -> ResultView:
    return _heads(shown.heads, "logit", language, theme)


@view_of.register
def _(shown: Flow, language: str = "en", theme: Theme = "light") -> ResultView:
    t, what = texts(language), {"flows": Flows.from_flow(shown), "word": shown.position}
    figure, large = (VIEWS["flow"].draw(**what, unfold=each, language=language, theme=theme) for each in (False, True))
    assert isinstance(figure, FlowFigure) and figure.chosen is not None
    rows = [(display_label(figure.label(part)), number(part.value)) for part in largest_parts(figure.chosen, LISTED)]
    return ResultView(figure, (t("notebook.made_of"), t("notebook.logit")), rows, large)


@view_of.register
def _(shown: PartEffects, language: str = "en", theme: Theme = "light") -> ResultView:
    names = list(map(str, shown.parts))
    return _matrix(shown.effects, names, shown.run.tokens, ("part", "token", "effect"), language, theme)


@view_of.register
def _(shown: CumulativeAblation, language: str = "en", theme: Theme = "light") -> ResultView:
    t, log_p = texts(language), shown.log_p.tolist()
    curve = Series(x=range(len(log_p)), y=log_p)
    figure = CurvesFigure(
        series=[curve],
        x_title=t("notebook.removed"),
        y_title=t("notebook.log_p"),
        language=language,
        theme=theme,
    )
    rows = [(str(count), text) for count, text in shown.texts[:LISTED]]
    return ResultView(figure, (t("notebook.removed"), t("notebook.translation")), rows)


@view_of.register
def _(shown: Attribution, language: str = "en", theme: Theme = "light") -> ResultView:
    tokens, asked = shown.run.tokens, shown.contrast
    rows = tokens if asked is None else [tokens[asked.position]]
    titles = ("token", "source", "attribution")
    return _matrix(shown.source, rows, shown.run.source_tokens, titles, language, theme)


@view_of.register
def _(shown: LogitLens, language: str = "en", theme: Theme = "light") -> ResultView:
    t, names = texts(language), [str(layer) for layer in range(len(shown.log_p))]
    first = [[tokens[0] for tokens in layer] for layer in shown.top_tokens]
    titles = ("layer", "token", "log_p")
    view = _matrix(shown.log_p, names, shown.run.tokens, titles, language, theme, signed=False, cell_labels=first)
    later = [(shown.rank[:, at] > 1).nonzero().flatten().tolist() for at in range(len(shown.run.tokens))]
    since = [each[-1] + 1 if each else 0 for each in later]
    last = sorted(range(len(since)), key=lambda at: -since[at])[:LISTED]
    rows = [(display_label(shown.run.tokens[at]), str(since[at]) if since[at] < len(names) else "-") for at in last]
    return ResultView(view.figure, (t("notebook.token"), t("notebook.known_since")), rows)


@view_of.register
def _(shown: Patching, language: str = "en", theme: Theme = "light") -> ResultView:
    if len(shown.recovered) == len(KINDS):
        return _heads(dict(zip(KINDS, shown.recovered, strict=True)), "recovered", language, theme)
    layers, positions = shown.recovered.shape[1:]
    names = [f"{stack}.{layer + 1}" for stack in STACKS for layer in range(layers)]
    columns = [str(position + 1) for position in range(positions)]
    titles = ("layer", "position", "recovered")
    return _matrix(shown.recovered.flatten(0, 1), names, columns, titles, language, theme)


@view_of.register
def _(shown: Circuit, language: str = "en", theme: Theme = "light") -> ResultView:
    t, scores = texts(language), dict(zip(shown.node_names, shown.nodes.mean(dim=0).tolist(), strict=True))
    names = [f"{kind}.{layer + 1}" for kind in KINDS for layer in range(shown.wiring.layers)]
    columns = [*(str(head + 1) for head in range(shown.wiring.heads)), "ffn"]
    values = np.array([[scores.get(f"{name}.{column}", np.nan) for column in columns] for name in names])
    view = _matrix(values, names, columns, ("layer", "head", "lost"), language, theme)
    names, table = ["score", "low", "high", "null"], shown.columns()
    rows = [
        (node, *("–" if np.isnan(value) else f"{value:.2f}" for value in numbers))
        for node, *numbers in zip(table["node"][:LISTED], *(table[name][:LISTED] for name in names), strict=True)
    ]
    return replace(view, columns=[t(f"notebook.{name}") for name in ("part", "lost", *names[1:])], rows=rows)


@view_of.register
def _(shown: Faithfulness, language: str = "en", theme: Theme = "light") -> ResultView:
    t, curves = texts(language), [shown.kept.tolist(), *shown.random.tolist()]
    names = [t("notebook.strongest"), *[t("notebook.random")] * len(shown.random)]
    figure = CurvesFigure(
        series=[Series(x=shown.edges[1:], y=each[1:], label=name) for name, each in zip(names, curves, strict=True)],
        x_title=t("notebook.edges"),
        y_title=t("notebook.kept"),
        x_log=True,
        language=language,
        theme=theme,
    )
    rows = [(f"{count:,}", f"{kept:.0%}") for count, kept in zip(shown.edges[1:], curves[0][1:], strict=True)]
    return ResultView(figure, (t("notebook.edges"), t("notebook.kept")), rows[:LISTED])


def _heads(values: Mapping[Kind, Tensor], scale: str, language: str, theme: Theme) -> ResultView:
    """View numbers of heads: (L, H) for each kind."""
    names = [f"{kind}.{layer + 1}" for kind, rows in values.items() for layer in range(len(rows))]
    together = np.concatenate([rows.detach().cpu().numpy() for rows in values.values()])
    columns = [str(head + 1) for head in range(together.shape[1])]
    return _matrix(together, names, columns, ("layer", "head", scale), language, theme)


def _matrix(
    values: Tensor | np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    titles: tuple[str, str, str],
    language: str,
    theme: Theme,
    *,
    signed: bool = True,
    cell_labels: Sequence[Sequence[str]] = (),
) -> ResultView:
    """View a matrix, and the cells that are furthest from zero; `titles` are keys of rows, columns and scale."""
    array = values.detach().cpu().numpy() if isinstance(values, Tensor) else values
    row, column, scale = (texts(language)(f"notebook.{name}") for name in titles)
    figure: MatrixFigure = heatmap(
        array,
        rows,
        columns,
        signed=signed,
        row_title=row,
        column_title=column,
        scale_title=scale,
        cell_labels=cell_labels,
        language=language,
        theme=theme,
    )
    order = np.argsort(np.nan_to_num(-np.abs(array)), axis=None, kind="stable")[:LISTED]
    cells = [divmod(int(place), array.shape[1]) for place in order]
    listed = [(rows[i], columns[j], f"{array[i, j]:+.3f}") for i, j in cells]
    return ResultView(figure, (row, column, scale), listed)


def _head(maps: AttentionMaps, language: str, theme: Theme, provenance: Mapping[str, object]) -> Figure:
    """Draw the head with the most information, of the last kind that the model has."""
    kind = maps.kinds[-1]
    _, layer, head = most_informative_head(maps, kind)
    place = Selection(kind=kind, layer=layer, head=head).fitted(maps)
    return VIEWS["head"].draw(
        maps=maps,
        kind=kind,
        layer=place.layer,
        head=place.head,
        language=language,
        theme=theme,
        provenance=provenance,
    )
