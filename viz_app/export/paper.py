"""Figures like those in the paper's appendix, of any model: heads are chosen by what they measure, never by eye.

Figure 3 follows a long-distance dependency of a verb, Figure 4 an anaphor, Figure 5 the structure of a sentence. For
each a sentence of ours has words marked whose link is looked for, and encoder heads are ranked by the weight they give
to it. Where the model has a head atlas, grids of all its heads and the pruning curves follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.atlas.measures import measures
from transformer_core.attention_maps import AttentionMaps
from transformer_core.head import Head
from viz_app.export.figure_request import ForwardResult, ModelRunner, Sentence, run_figure
from viz_app.figures import Figure, FigureOptions, LinesFigure, Request, head_lines
from viz_app.figures.build.atlas import pruned_groups
from viz_app.text import texts

# In each sentence every word that is marked stands once; links go from the query to the key.
VERB = "She turned the small lamp in the kitchen off."
VERB_LINKS = (("turned", "off"),)
ANAPHOR = "The old bridge is beautiful, but its steps are dangerous."
ANAPHOR_LINKS = (("its", "bridge"),)
STRUCTURE = "The little dog is playing in the garden."
# Each word with the word that it depends on, as in Universal Dependencies; annotated by hand.
STRUCTURE_LINKS = (
    ("The", "dog"),
    ("little", "dog"),
    ("dog", "playing"),
    ("is", "playing"),
    ("in", "garden"),
    ("the", "garden"),
    ("garden", "playing"),
)
SENTENCES = (VERB, ANAPHOR, STRUCTURE)
PRINTED = ("gain", "effect")  # measures of the atlas

Links = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class LinkShares:
    """Weight that each encoder head gives to links.

    Args:
        shares: (L, H) mean over the queries of the links of the weight on their keys.
        uniform: The same for a head with uniform attention.
    """

    shares: npt.NDArray[np.float64]
    uniform: float

    @property
    def best(self) -> tuple[int, int]:
        """Layer and head with the largest share, from 0."""
        layer, head = divmod(int(self.shares.argmax()), self.shares.shape[1])
        return layer, head


def measure_links(maps: AttentionMaps, links: Links) -> LinkShares:
    """Measure the weight that each encoder head gives to the links.

    Args:
        maps: Maps of a sentence, by words.
        links: Pairs of query and key.

    Raises:
        ValueError: A word does not stand in the sentence as one word.
    """
    places = [(word_index(maps, query), word_index(maps, key)) for query, key in links]
    queries = sorted({query for query, _ in places})
    count = maps.encoder.shape[-1]
    shares = np.zeros(maps.encoder.shape[:2], dtype=np.float64)
    for query, key in places:
        shares += maps.encoder[:, :, query, key]
    return LinkShares(shares / len(queries), len(places) / len(queries) / count)


def word_index(maps: AttentionMaps, word: str) -> int:
    """Return the position of a word among the words of the source. Raises ValueError when it is not one of them."""
    try:
        return maps.source.tokens.index(word)
    except ValueError:
        raise ValueError(
            f"{word!r} is not a word of {' '.join(maps.source.tokens)!r}, as this model reads it"
        ) from None


def paper_figures(checkpoint: str, runner: ModelRunner, *, language: str = "en") -> Iterator[Figure]:
    """Draw the figures; of the head atlas all heads by gain and effect, and the pruning curves, as far as it has them.

    Args:
        checkpoint: Folder of the model.
        runner: Runs it.
        language: "en" or "ko".

    Raises:
        ValueError: The model does not read the words of the sentences as words.
        CheckpointError: The atlas is damaged.
    """
    verb, anaphor, structure = (runner.run(Sentence(checkpoint=checkpoint, text=text)) for text in SENTENCES)
    yield from (_verb(verb, language), *_anaphor(anaphor, language), *_structure(structure, language))
    atlas = runner.atlas(checkpoint)
    if atlas is None:
        return
    names = {measure.name for measure in measures(atlas)}
    grids = [FigureOptions(view="grid", measure=each, language=language) for each in PRINTED if each in names]
    curves = [FigureOptions(view="pruning", language=language)] if "all" in pruned_groups(atlas) else []
    for options in (*grids, *curves):
        yield run_figure(options, Sentence(checkpoint=checkpoint, text=""), runner)


def _verb(result: ForwardResult, language: str) -> LinesFigure:
    words = result.maps.merged_to_words()
    link_shares = measure_links(words, VERB_LINKS)
    layer, head = link_shares.best
    values = {
        "layer": layer + 1,
        "mean": _percent(link_shares.shares[layer].mean()),
        "head": str(Head("encoder", layer, head)),
        "share": _percent(link_shares.shares[layer, head]),
    }
    heads = range(words.heads("encoder"))
    query = word_index(words, VERB_LINKS[0][0])
    return _figure(result, link_shares, "verb", VERB_LINKS, layer, heads, values, language, query)


def _anaphor(result: ForwardResult, language: str) -> list[LinesFigure]:
    words = result.maps.merged_to_words()
    link_shares = measure_links(words, ANAPHOR_LINKS)
    layer, head = link_shares.best
    values: dict[str, Any] = {
        "head": str(Head("encoder", layer, head)),
        "share": _percent(link_shares.shares[layer, head]),
    }
    whole = _figure(result, link_shares, "anaphor", ANAPHOR_LINKS, layer, [head], values, language)
    pairs = np.sort(link_shares.shares, axis=1)[:, -2:].sum(axis=1)  # of each layer, the two heads that look there most
    layer = int(pairs.argmax())
    two = sorted(int(h) for h in np.argsort(-link_shares.shares[layer], kind="stable")[:2])
    shares = [texts(language)("figures.percent", percent=_percent(link_shares.shares[layer, h])) for h in two]
    values = {
        "layer": layer + 1,
        "heads": ", ".join(f"{Head('encoder', layer, h)} ({share})" for h, share in zip(two, shares, strict=True)),
    }
    query = word_index(words, ANAPHOR_LINKS[0][0])
    return [whole, _figure(result, link_shares, "anaphor_word", ANAPHOR_LINKS, layer, two, values, language, query)]


def _structure(result: ForwardResult, language: str) -> list[LinesFigure]:
    words = result.maps.merged_to_words()
    figures = []
    downward = tuple((governor, dependent) for dependent, governor in STRUCTURE_LINKS)
    for name, links in (("governor", STRUCTURE_LINKS), ("dependents", downward)):
        link_shares = measure_links(words, links)
        layer, head = link_shares.best
        values = {"head": str(Head("encoder", layer, head)), "share": _percent(link_shares.shares[layer, head])}
        figures.append(_figure(result, link_shares, name, links, layer, [head], values, language))
    return figures


def _figure(
    result: ForwardResult,
    link_shares: LinkShares,
    name: str,
    links: Links,
    layer: int,
    heads: Sequence[int],
    values: Mapping[str, Any],
    language: str,
    query: int | None = None,
) -> LinesFigure:
    """Draw lines by words; the caption says how the heads were chosen, the record has the measure."""
    lines = Request(maps=result.maps, kind="encoder", layer=layer, heads=tuple(heads), query=query, unit="words")
    figure = head_lines(replace(lines, language=language, provenance=result.provenance))
    counted = link_shares.shares.size
    caption = texts(language)(
        f"export.paper_{name}",
        first=links[0][0],
        second=links[0][1],
        count=counted,
        even=_percent(link_shares.uniform),
        **values,
    )
    record = {
        "links": [list(link) for link in links],
        "share_of_each_encoder_head": [[round(float(share), 4) for share in row] for row in link_shares.shares],
        "share_if_even": round(link_shares.uniform, 4),
    }
    provenance = {key: value for key, value in figure.provenance.items() if key != "view"}
    return replace(
        figure,
        caption=caption,
        alt=f"{caption} {figure.alt}",
        name=f"headlight_paper_{_NUMBERS[name]}",
        provenance={**provenance, "chosen_by": record},
    )


_NUMBERS = {
    "verb": "figure3_verb",
    "anaphor": "figure4_anaphor",
    "anaphor_word": "figure4_anaphor_word",
    "governor": "figure5_governor",
    "dependents": "figure5_dependents",
}


def _percent(share: float) -> str:
    return f"{100 * share:.0f}"
