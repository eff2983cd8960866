"""Captions and alt texts of lines, steps, comparisons, searches, trees and the whole model, as in `captions`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viz_app.figures.model.arrays import AnyKind, Maps
from viz_app.figures.model.beam_tree import BeamTreeFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.figure import HeatmapPanel, display_label
from viz_app.figures.model.slicing import axis_label
from viz_app.figures.text.captions import (
    Caption,
    fill_template,
    head_caption,
    percent,
    strongest_link_caption,
    strongest_links,
)
from viz_app.text import texts

_MAX_LABEL = 24
_MAX_PHRASE = 60


def kinds_caption(maps: Maps, *, language: str = "en") -> Caption:
    """All heads of the model; names the encoder-decoder head with the strongest link."""
    table = texts(language).table("figures")
    counts = {kind: maps.layers(kind) * maps.heads(kind) for kind in ("encoder", "decoder", "cross")}
    values = {"count": str(sum(counts.values())), **{kind: str(count) for kind, count in counts.items()}}
    peaks = [
        [strongest_links(maps, "cross", layer, head, 1)[0].weight for head in range(maps.heads("cross"))]
        for layer in range(maps.layers("cross"))
    ]
    layer, head = divmod(int(np.argmax(peaks)), maps.heads("cross"))
    strongest = strongest_link_caption(maps, "cross", layer, head, language, template="caption_strongest_of_kind")
    return fill_template(table["caption_kinds"], values, {}) + strongest


def kinds_alt(maps: Maps, caption: Caption, *, language: str = "en") -> str:
    """What the table of all heads looks like, then its caption."""
    table = texts(language).table("figures")
    values = {"layers": str(maps.layers("encoder") + 2 * maps.layers("cross")), "heads": str(maps.heads("cross"))}
    return f"{fill_template(table['alt_kinds'], values, {}).text} {caption.text}"


def lines_caption(
    maps: Maps, kind: AnyKind, layer: int, heads: Sequence[int], query: int | None, *, language: str = "en"
) -> Caption:
    """One head gets the caption of its heatmap; several get that of the head with the largest weight from the query."""
    table = texts(language).table("figures")
    if query is None and len(heads) == 1:
        return head_caption(maps, kind, layer, heads[0], language=language)
    caption = Caption(())
    if len(heads) > 1:
        values = {"layer": str(layer + 1), "heads": _list(heads), "kind": table[f"kind_{kind}"]}
        caption = fill_template(table["caption_lines"], values, {})
    if query is None:
        peaks = [strongest_links(maps, kind, layer, head, 1, itself=False)[0].weight for head in heads]
        return caption + strongest_link_caption(maps, kind, layer, heads[int(np.argmax(peaks))], language)
    rows = maps.weights(kind)[layer, list(heads), query]  # (heads, K)
    head, column = divmod(int(rows.argmax()), rows.shape[1])
    values = {"head": f"{layer + 1}.{heads[head] + 1}", "percent": percent(float(rows[head, column]))}
    tokens = {"query": _token(maps.queries(kind).tokens[query]), "key": _token(maps.keys(kind).tokens[column])}
    row = fill_template(table["caption_row"], values, tokens)
    return caption + row if caption.segments else row


def lines_alt(
    maps: Maps,
    kind: AnyKind,
    layer: int,
    heads: Sequence[int],
    caption: Caption,
    *,
    language: str,
    unit: str,
    of_parser: bool = False,
) -> str:
    """What the lines connect, then the caption."""
    table = texts(language).table("figures")
    values = {
        "kind": table[f"kind_{kind}"],
        "layer": str(layer + 1),
        "heads": _list(heads),
        "query_title": table[axis_label(unit, "query", kind, of_parser)],
        "key_title": table[axis_label(unit, "key", kind, of_parser)],
    }
    return f"{fill_template(table['alt_lines'], values, {}).text} {caption.text}"


def steps_caption(maps: Maps, kind: AnyKind, layer: int, head: int, steps: Sequence[int], *, language: str) -> Caption:
    """Which steps stand side by side, and what the head does at the last one; `maps` are cut to that step."""
    table = texts(language).table("figures")
    values = {"head": f"{layer + 1}.{head + 1}", "steps": _list([step - 1 for step in steps])}
    return fill_template(table["caption_steps"], values, {}) + head_caption(maps, kind, layer, head, language=language)


def comparison_caption(difference: HeatmapPanel | None, *, language: str) -> Caption:
    """Where A and B differ most, or that their tokens differ."""
    table = texts(language).table("figures")
    if difference is None:
        return fill_template(table["caption_apart"], {}, {})
    row, column = (int(i) for i in np.unravel_index(np.abs(difference.weights).argmax(), difference.weights.shape))
    query, key = difference.query_labels[row], difference.key_labels[column]
    change = float(difference.weights[row, column])
    if change == 0.0:
        return fill_template(table["caption_same"], {}, {})
    values = {"points": f"{abs(change) * 100:.0f}"}
    which = "caption_more" if change > 0 else "caption_less"
    return fill_template(table[which], values, {"query": _token(query), "key": _token(key)})


def comparison_alt(a: HeatmapPanel, b: HeatmapPanel, caption: Caption, *, language: str) -> str:
    """What stands side by side, then the caption."""
    table = texts(language).table("figures")
    values = {"first": a.title, "second": b.title}
    return f"{fill_template(table['alt_comparison'], values, {}).text} {caption.text}"


def beam_caption(figure: BeamTreeFigure, best: str, score: float, *, language: str) -> Caption:
    """How large the search was, and what it found; `best` is the text of the chosen translation."""
    table = texts(language).table("figures")
    values = {
        "count": str(len(figure.nodes)),
        "steps": str(figure.steps),
        "kept": str(sum(node.status != "pruned" for node in figure.nodes)),
        "score": f"{score:.2f}".replace("-", "\u2212"),
    }
    return fill_template(table["caption_beam"], values, {"best": display_label(best)})


def tree_caption(figure: ConstituencyFigure, *, language: str) -> Caption:
    """How large the tree is, which constituent the model is least sure of, and whether its brackets were repaired."""
    table = texts(language).table("figures")
    values = {"count": str(len(figure.nodes)), "words": str(len(figure.words)), "depth": str(max(figure.levels) + 1)}
    caption = fill_template(table["caption_tree"], values, {})
    sure = [(node.probability, i) for i, node in enumerate(figure.nodes) if node.probability is not None]
    if len(sure) > 1:
        probability, least = min(sure)
        values = {"label": figure.nodes[least].label, "percent": percent(probability)}
        tokens = {"phrase": display_label(figure.phrase(least), _MAX_PHRASE)}
        caption += fill_template(table["caption_tree_least"], values, tokens)
    if figure.repairs:
        values = {"count": str(sum(figure.repairs.values()))}
        caption += fill_template(table["caption_tree_repaired"], values, {})
    return caption


def tree_attention_caption(figure: ConstituencyFigure, head: str, generated: str, *, language: str) -> Caption:
    """Which token is generated, and which word its head attends to most; `head` counts from 1, as 4.6."""
    table, weights = texts(language).table("figures"), np.array(figure.weights)
    word = int(weights.argmax())
    values = {"head": head, "percent": percent(float(weights[word]))}
    tokens = {"query": _token(generated), "key": _token(figure.words[word])}
    return fill_template(table["caption_tree_attention"], values, tokens)


def _token(label: str) -> str:
    return display_label(label, _MAX_LABEL)


def _list(numbers: Sequence[int]) -> str:
    """Numbers from 0 as a list from 1."""
    return ", ".join(str(number + 1) for number in numbers)
