"""Dependency relations of encoder heads, compared with the best fixed offset (Voita et al. 2019, Section 5.2).

A head follows a relation where the strongest word of its row is the right one. Words are the treebank's, without
`</s>`. Offsets and candidates are chosen on one treebank and tested on another.

Shape legend: N trees, D = 2 directions, R relations, O offsets, L layers, H heads, W words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import torch

from transformer_core.analysis.word_weights import BoolArray, by_words, membership
from transformer_core.atlas.record import Estimate, FloatArray, Link, Links
from transformer_core.atlas.resumable_map import MAX_MAP_BYTES, Results, ResumableMap, cut, joined
from transformer_core.atlas.statistics import (
    FALSE_DISCOVERIES,
    MIN_GAIN,
    MIN_PLACES,
    Bootstrap,
    corrected,
    sign_test,
)
from transformer_core.atlas.trees import RELATIONS, Tree
from transformer_core.data import DataError, make_batch
from transformer_core.decoding.forced_maps import capture_maps, to_host
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import SourceTooLong, Translator

CHUNK = 50  # trees of an item
DIRECTIONS = ("to_head", "to_dependent")
_OFFSETS = tuple(offset for offset in range(-10, 11) if offset)


def measure_links(
    runner: ResumableMap, choose: Sequence[Tree], test: Sequence[Tree], bootstrap: Mapping[str, int]
) -> Links:
    """Choose on one treebank, test on another.

    Args:
        runner: Runs the stages.
        choose: Trees for the choice of offsets and candidates.
        test: Other trees.
        bootstrap: `draws` and `seed`.

    Raises:
        DataError: One of the two has no readable tree.
    """
    items = [msgspec.to_builtins(group) for trees in (choose, test) for group in cut(trees, CHUNK)]
    results = runner.run(chunk_links, items, "trees x 50")
    cutting = len(cut(choose, CHUNK))
    first, second = (_Counts(each) for each in (results[:cutting], results[cutting:]))
    for name, counts in (("first", first), ("second", second)):
        if not len(counts.places):
            raise DataError(f"the {name} treebank has no tree that can be read")
    return _links(first, second, len(choose) + len(test), bootstrap)


class _Counts:
    """Counts of a treebank: hits (N, D, R, L, H), places, uniform (N, D, R) and fixed (N, D, R, O)."""

    def __init__(self, results: Sequence[Results]) -> None:
        self.hits, self.places, self.uniform, self.fixed = (
            joined(results, name) for name in ("hits", "places", "uniform", "fixed")
        )

    def accuracy(self) -> FloatArray:
        """Return (D, R, L, H), NaN without places."""
        return _over(self.hits.sum(axis=0), self.places.sum(axis=0)[:, :, None, None])


def _links(first: _Counts, second: _Counts, trees: int, bootstrap: Mapping[str, int]) -> Links:
    best = first.fixed.sum(axis=0).argmax(axis=2)  # (D, R)
    offsets = np.take_along_axis(first.fixed.sum(axis=0), best[:, :, None], axis=2)[:, :, 0]
    chance = first.uniform.sum(axis=0)
    baseline = np.maximum(offsets, chance)
    candidates = first.accuracy() - _over(baseline, first.places.sum(axis=0))[:, :, None, None] >= MIN_GAIN
    candidates &= (first.places.sum(axis=0) >= MIN_PLACES)[:, :, None, None]

    drawing = Bootstrap(len(second.places), **bootstrap)
    fixed = np.take_along_axis(second.fixed, best[None, :, :, None], axis=3)[..., 0].astype(np.float64)  # (N, D, R)
    expected = np.where(chance > offsets, second.uniform, fixed)
    differences = second.hits - expected[..., None, None]
    gain = drawing.ratio(differences, second.places)
    places = second.places.sum(axis=0)
    return Links(
        chosen_on=len(first.places),
        sentences=len(second.places),
        skipped=trees - len(first.places) - len(second.places),
        directions=DIRECTIONS,
        relations=RELATIONS,
        accuracy=drawing.ratio(second.hits, second.places),
        places=places.astype(np.float64),
        first=first.accuracy(),
        first_places=first.places.sum(axis=0).astype(np.float64),
        offset=np.array(_OFFSETS, dtype=np.float64)[best],
        fixed=drawing.ratio(fixed, second.places),
        uniform=_over(second.uniform.sum(axis=0), places),
        gain=gain,
        tested=_tested(candidates, differences, gain, places),
    )


def _tested(mask: BoolArray, differences: FloatArray, gain: Estimate, places: npt.NDArray[Any]) -> tuple[Link, ...]:
    """Test the candidates, in the order of directions, relations, layers and heads."""
    candidates = np.argwhere(mask)
    p = sign_test(differences)[mask]
    q = corrected(p)
    tested = []
    for (direction, relation, layer, head), one_p, one_q in zip(candidates.tolist(), p, q, strict=True):
        enough = places[direction, relation] >= MIN_PLACES
        large = enough and gain.value[direction, relation, layer, head] >= MIN_GAIN
        tested.append(
            Link(
                relation=RELATIONS[relation],
                direction=DIRECTIONS[direction],
                layer=layer,
                head=head,
                p=float(one_p),
                q=float(one_q),
                holds=bool(large and one_q <= FALSE_DISCOVERIES),
            )
        )
    return tuple(tested)


def _over(sums: npt.NDArray[Any], counts: npt.NDArray[Any]) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / counts, dtype=np.float64)


def chunk_links(translator: Translator, item: Any) -> Results:
    """Count some trees, see `_Counts`; skip trees that are too long."""
    counts = []
    for tree in msgspec.convert(item, list[Tree]):
        weights = word_weights(translator, tree)
        if weights is not None:
            counts.append(tree_counts(weights, tree))
    config = translator.config
    shape = len(DIRECTIONS), len(RELATIONS)
    shapes = ((*shape, config.num_layers, config.num_heads), shape, shape, (*shape, len(_OFFSETS)))
    types = (np.int16, np.int16, np.float64, np.int16)
    return {
        name: np.stack([each[number] for each in counts]) if counts else np.empty((0, *shapes[number]), types[number])
        for number, name in enumerate(("hits", "places", "uniform", "fixed"))
    }


def word_weights(translator: Translator, tree: Tree) -> FloatArray | None:
    """Return the encoder's weights between the words of a tree, (L, H, W, W); None if it is too long or empty.

    Rows of a word without tokens are NaN.
    """
    encoded = encoder_weights(translator, tree.text)
    if encoded is None:
        return None
    encoding, weights = encoded
    members = membership(encoding, tree.words)
    tokens = len(members)
    return by_words(weights[:, :, :tokens, :tokens], members, members)


@torch.no_grad()
def encoder_weights(translator: Translator, text: str) -> tuple[Encoding, npt.NDArray[np.float32]] | None:
    """Return tokens and (L, H, S, S), `</s>` included; None for a sentence that is empty or too long."""
    try:
        encoding = translator.encode(text)
    except SourceTooLong:
        return None
    config, length = translator.config, len(encoding) + 1
    if len(encoding) == 0 or 4 * config.num_layers * config.num_heads * length**2 > MAX_MAP_BYTES:
        return None
    batch = make_batch([encoding.ids], [[]], translator.tokenizer.special)
    source = batch.source.to(translator.model.embedding.weight.device)
    with capture_maps(translator.model, kinds={"encoder"}) as maps:
        translator.model.encode(source, torch.ones_like(source, dtype=torch.bool)[:, None, None])
    return encoding, to_host(maps)["encoder"][:, 0].numpy()


def tree_counts(weights: FloatArray, tree: Tree) -> tuple[npt.NDArray[Any], ...]:
    """Count one tree: hits (D, R, L, H), places (D, R), hits by chance (D, R), hits of fixed offsets (D, R, O).

    A query is a word with a relation. The right answer of a dependent is its head; the right answers of a head are all
    its dependents of that relation.

    Args:
        weights: (L, H, W, W) between words; rows of a word without tokens are NaN.
        tree: The tree of these words.
    """
    layers, heads, words, _ = weights.shape
    present = np.array([not np.isnan(weights[0, 0, word, 0]) for word in range(words)])
    strongest = np.where(present[:, None] & present, weights, -1.0).argmax(axis=3)  # (L, H, W)
    shape = len(DIRECTIONS), len(RELATIONS)
    hits = np.zeros((*shape, layers, heads), dtype=np.int16)
    places = np.zeros(shape, dtype=np.int16)
    uniform = np.zeros(shape)
    fixed = np.zeros((*shape, len(_OFFSETS)), dtype=np.int16)
    for direction, relation, query, answers in _questions(tree, present):
        at = direction, relation
        hits[at] += np.isin(strongest[:, :, query], answers)
        places[at] += 1
        uniform[at] += len(answers) / (present.sum() - 1)
        fixed[at] += np.isin(query + np.array(_OFFSETS), answers)
    return hits, places, uniform, fixed


def _questions(tree: Tree, present: BoolArray) -> list[tuple[int, int, int, list[int]]]:
    """List direction, relation, query and right answers."""
    questions = []
    dependents: dict[tuple[int, int], list[int]] = {}
    for word, (head, name) in enumerate(zip(tree.heads, tree.relations, strict=True)):
        if head < 0 or not (present[word] and present[head]):
            continue
        relation = RELATIONS.index(name)
        questions.append((0, relation, word, [head]))
        dependents.setdefault((relation, head), []).append(word)
    return questions + [(1, relation, head, words) for (relation, head), words in dependents.items()]
