"""Captions and alt texts of lines, steps, comparisons, searches, trees and the whole model, as in `captions`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from transformer_core.attention_maps import KINDS, Kind
from viz_app.figures.model.arrays import Maps
from viz_app.figures.model.beam_tree import BeamTreeFigure
from viz_app.figures.model.constituency import ConstituencyFigure
from viz_app.figures.model.figure import HeatmapPanel, display_label
from viz_app.figures.model.slicing import AttentionSlice
from viz_app.figures.options import AnyKind
from viz_app.figures.text.captions import (
    MAX_LABEL,
    Caption,
    all_caption,
    axis_words,
    head_caption,
    head_name,
    kind_name,
    percent,
    say,
    strongest_link_caption,
    strongest_links,
)

_MAX_PHRASE = 60


def kinds_caption(maps: Maps, kinds: Sequence[Kind], *, language: str = "en") -> Caption:
    """Caption all heads of the model; it names the encoder-decoder head with the strongest link."""
    if len(kinds) < len(KINDS):  # a model of another program
        first, *others = (all_caption(maps, kind, language=language) for kind in kinds)
        return first + others[0] if others else first
    counts = {kind: maps.layers(kind) * maps.heads(kind) for kind in ("encoder", "decoder", "cross")}
    peaks = [
        [strongest_links(maps, "cross", layer, head, 1)[0].weight for head in range(maps.heads("cross"))]
        for layer in range(maps.layers("cross"))
    ]
    layer, head = divmod(int(np.argmax(peaks)), maps.heads("cross"))
    strongest = strongest_link_caption(maps, "cross", layer, head, language, template="caption_strongest_of_kind")
    return say(language, "caption_kinds", count=sum(counts.values()), **counts) + strongest


def kinds_alt(maps: Maps, kinds: Sequence[Kind], caption: Caption, *, language: str = "en") -> str:
    """Describe the table of all heads, then repeat its caption."""
    layers = sum(maps.layers(kind) for kind in kinds)
    return f"{say(language, 'alt_kinds', layers=layers, heads=maps.heads(kinds[-1])).text} {caption.text}"


def lines_caption(
    maps: Maps, kind: AnyKind, layer: int, heads: Sequence[int], query: int | None, *, language: str = "en"
) -> Caption:
    """Caption lines: one head as its heatmap; several by the head with the largest weight from the query."""
    if query is None and len(heads) == 1:
        return head_caption(maps, kind, layer, heads[0], language=language)
    caption = Caption(())
    if len(heads) > 1:
        place = {"layer": layer + 1, "heads": _list(heads), "kind": kind_name(language, kind)}
        caption = say(language, "caption_lines", **place)
    if query is None:
        peaks = [strongest_links(maps, kind, layer, head, 1, itself=False)[0].weight for head in heads]
        return caption + strongest_link_caption(maps, kind, layer, heads[int(np.argmax(peaks))], language)
    rows = maps.weights(kind)[layer, list(heads), query]  # (heads, K)
    head, column = divmod(int(rows.argmax()), rows.shape[1])
    values = {"head": head_name(kind, layer, heads[head]), "percent": percent(float(rows[head, column]))}
    tokens = {"query": _token(maps.queries(kind).tokens[query]), "key": _token(maps.keys(kind).tokens[column])}
    row = say(language, "caption_row", tokens, **values)
    return caption + row if caption.segments else row


def lines_alt(view: AttentionSlice, layer: int, heads: Sequence[int], caption: Caption) -> str:
    """Describe the two columns of tokens, then repeat the caption."""
    place = {"kind": view.kind_title, "layer": layer + 1, "heads": _list(heads)}
    return f"{say(view.t.language, 'alt_lines', **place, **axis_words(view)).text} {caption.text}"


def steps_caption(maps: Maps, kind: AnyKind, layer: int, head: int, steps: Sequence[int], *, language: str) -> Caption:
    """Caption steps side by side, with the head at the last one; `maps` are cut to that step."""
    place = {"head": head_name(kind, layer, head), "steps": _list([step - 1 for step in steps])}
    return say(language, "caption_steps", **place) + head_caption(maps, kind, layer, head, language=language)


def comparison_caption(difference: HeatmapPanel | None, *, language: str) -> Caption:
    """Caption a comparison: the largest difference of A and B, or that their tokens differ."""
    if difference is None:
        return say(language, "caption_apart")
    row, column = (int(i) for i in np.unravel_index(np.abs(difference.weights).argmax(), difference.weights.shape))
    tokens = {"query": _token(difference.query_labels[row]), "key": _token(difference.key_labels[column])}
    change = float(difference.weights[row, column])
    if change == 0.0:
        return say(language, "caption_same")
    return say(language, "caption_more" if change > 0 else "caption_less", tokens, points=f"{abs(change) * 100:.0f}")


def comparison_alt(a: HeatmapPanel, b: HeatmapPanel, caption: Caption, *, language: str) -> str:
    """Name both maps, then repeat the caption."""
    return f"{say(language, 'alt_comparison', first=a.title, second=b.title).text} {caption.text}"


def beam_caption(figure: BeamTreeFigure, best: str, score: float, *, language: str) -> Caption:
    """Caption a search: its size, and its result `best`, the text of the chosen translation."""
    return say(
        language,
        "caption_beam",
        {"best": display_label(best)},
        count=len(figure.nodes),
        steps=figure.steps,
        kept=sum(node.status != "pruned" for node in figure.nodes),
        score=f"{score:.2f}".replace("-", "\u2212"),
    )


def tree_caption(figure: ConstituencyFigure, *, language: str) -> Caption:
    """Caption a tree: its size, its least probable constituent, and whether its brackets were repaired."""
    size = {"count": len(figure.nodes), "words": len(figure.words), "depth": max(figure.levels) + 1}
    caption = say(language, "caption_tree", **size)
    sure = [(node.probability, i) for i, node in enumerate(figure.nodes) if node.probability is not None]
    if len(sure) > 1:
        probability, least = min(sure)
        tokens = {"phrase": display_label(figure.phrase(least), _MAX_PHRASE)}
        values = {"label": figure.nodes[least].label, "percent": percent(probability)}
        caption += say(language, "caption_tree_least", tokens, **values)
    if figure.repairs:
        caption += say(language, "caption_tree_repaired", count=sum(figure.repairs.values()))
    return caption


def tree_attention_caption(figure: ConstituencyFigure, head: str, generated: str, *, language: str) -> Caption:
    """Caption the attention of a head to the words while a token is generated; `head` is its name."""
    weights = np.array(figure.weights)
    word = int(weights.argmax())
    tokens = {"query": _token(generated), "key": _token(figure.words[word])}
    return say(language, "caption_tree_attention", tokens, head=head, percent=percent(float(weights[word])))


def _token(label: str) -> str:
    return display_label(label, MAX_LABEL)


def _list(numbers: Sequence[int]) -> str:
    """List numbers from 0 as numbers from 1."""
    return ", ".join(str(number + 1) for number in numbers)
