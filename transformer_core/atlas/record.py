"""What an atlas holds: every number of every part, with its interval, its count and its baselines.

Layers and heads count from 0. NaN stands where nothing was counted.

Shape legend: L layers, H heads, R relations, C counts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from transformer_core.attention_maps import Kind

FloatArray = npt.NDArray[np.float64]


class Estimate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Numbers with their 95 % intervals over sentences that are drawn with replacement.

    Args:
        value: Any shape, most often (L, H).
        low: Lower ends.
        high: Upper ends.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray


class Pattern(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How well a simple rule says where heads look, such as "the token before".

    Args:
        share: (L, H) of the places, how many have their strongest key where the rule says.
        weight: (L, H) mean weight on the keys of the rule.
        places: Queries that were counted.
        uniform: What equal weights would give, as share and as weight.
        offset: The offset that fits the rule best, the same for all queries; None for a rule that is an offset.
        fixed: The share that this offset explains; None for a rule that is an offset.
        q: (L, H) p-values that `share` is above the larger baseline, after Benjamini-Hochberg over all rules and heads.
    """

    share: Estimate
    weight: Estimate
    places: int
    uniform: float
    offset: int | None
    fixed: float | None
    q: FloatArray


class Spread(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A number of every head beside that of equal weights.

    Args:
        heads: (L, H).
        uniform: What equal weights give.
        places: Queries that were counted.
    """

    heads: Estimate
    uniform: float
    places: int


class KindLooks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the heads of a kind look.

    Args:
        patterns: By name of the rule, see `patterns.py`.
        offsets: (L, H, offsets) share of queries whose strongest key is at each offset of `Looks.offsets`.
        entropy: Of a row, in nats.
        distance: Mean distance between query and key, weighted, in positions.
    """

    patterns: dict[str, Pattern]
    offsets: FloatArray
    entropy: Spread
    distance: Spread


class Looks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where all heads look.

    Args:
        sentences: That were read.
        skipped: Sentences that are empty or too long.
        offsets: Position of the key minus that of the query.
        kinds: By kind of attention.
    """

    sentences: int
    skipped: int
    offsets: tuple[int, ...]
    kinds: dict[Kind, KindLooks]


class Link(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A head that seemed to follow a relation when it was chosen, and how it did in the test.

    Args:
        relation: Of Universal Dependencies.
        direction: `to_head`: from dependents to their heads. `to_dependent`: the other way.
        layer: Of the encoder.
        head: Of this layer.
        p: That it is no better than the baseline, one-sided.
        q: The same after Benjamini-Hochberg over all that were chosen.
        holds: Whether it is 10 points above the baseline on at least 50 queries of the test, and q is at most 0.05.
    """

    relation: str
    direction: str
    layer: int
    head: int
    p: float
    q: float
    holds: bool


class Links(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which words the encoder's heads link: accuracy for each direction and relation.

    Args:
        chosen_on: Trees on which offsets and candidates were chosen.
        sentences: Trees of the test.
        skipped: Trees of both that are too long.
        directions: `to_head` and `to_dependent`.
        relations: R, of Universal Dependencies.
        accuracy: (2, R, L, H) share of queries whose strongest word is the right one.
        places: (2, R) queries.
        first: (2, R, L, H) the accuracy where candidates were chosen.
        first_places: (2, R) queries there.
        offset: (2, R) best fixed offset in words, chosen there.
        fixed: (2, R) its accuracy in the test.
        uniform: (2, R) that of another word drawn at random.
        gain: (2, R, L, H) accuracy minus the baseline: the one of `fixed` and `uniform` that was larger when chosen.
        tested: The candidates.
    """

    chosen_on: int
    sentences: int
    skipped: int
    directions: tuple[str, ...]
    relations: tuple[str, ...]
    accuracy: Estimate
    places: FloatArray
    first: FloatArray
    first_places: FloatArray
    offset: FloatArray
    fixed: Estimate
    uniform: FloatArray
    gain: Estimate
    tested: tuple[Link, ...]


class Convention(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Alignment error rates under one way to name the rows of cross-attention.

    Args:
        error: (L, H) 0 to 1, less is better.
        fixed: Error of the best fixed offset in words.
        offset: That offset.
        uniform: Error of links drawn at random, the mean over draws.
        gain: (L, H) `fixed` minus `error`.
        q: (L, H) p-values that a head aligns no better, after Benjamini-Hochberg.
    """

    error: Estimate
    fixed: float
    offset: int
    uniform: float
    gain: Estimate
    q: FloatArray


class Alignment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How well the heads of cross-attention align words.

    Args:
        sentences: With links made by hand.
        skipped: Sentences that are too long.
        rows: `output`: rows named after the token that they generate. `input`: after the token that they read.
    """

    sentences: int
    skipped: int
    rows: dict[str, Convention]


class Effects(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a token of the reference loses without each head, in nats; positive: the head helps.

    Args:
        sentences: That were read.
        skipped: Sentences that are empty or too long.
        tokens: Of their targets, `</s>` included.
        changes: What a head says instead -> kind -> (L, H). `random` is the baseline of the others.
        q: Change -> kind -> (L, H) two-sided p-values that the effect is 0, after Benjamini-Hochberg of each change.
        gradient: Kind -> (L, H) importance by the gradient (Michel, Levy and Neubig 2019).
        agreement: Change -> Spearman's rank correlation of effect and gradient importance, over all heads and by kind.
        classes: Class of the target token -> kind -> (L, H), effects of `mean`.
        class_tokens: Class -> tokens.
        lengths: Sentences of a third of lengths -> kind -> (L, H), effects of `mean`.
        length_bounds: Third -> tokens of the source of its shortest and its longest sentence.
    """

    sentences: int
    skipped: int
    tokens: int
    changes: dict[str, dict[Kind, Estimate]]
    q: dict[str, dict[Kind, FloatArray]]
    gradient: dict[Kind, Estimate]
    agreement: dict[str, dict[str, Estimate]]
    classes: dict[str, dict[Kind, Estimate]]
    class_tokens: dict[str, int]
    lengths: dict[str, dict[Kind, Estimate]]
    length_bounds: dict[str, tuple[int, int]]


class Score(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """BLEU and chrF of greedy translations, 0 to 100.

    Args:
        bleu: Corpus BLEU.
        chrf: Corpus chrF2.
        bleu_half: Half the width of its 95 % interval over sentences.
        chrf_half: The same of chrF2.
        bleu_p: Of the hypothesis that the whole model is as good, by paired bootstrap resampling (Koehn 2004).
        chrf_p: The same of chrF2.
    """

    bleu: float
    chrf: float
    bleu_half: float
    chrf_half: float
    bleu_p: float
    chrf_p: float


class Decoded(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is left of translations without each head.

    Args:
        sentences: That were translated.
        signatures: sacreBLEU's.
        whole: The model as it is; its p-values are 1.
        heads: Kind -> layer -> head.
        q: Kind -> (L, H) `bleu_p` after Benjamini-Hochberg.
    """

    sentences: int
    signatures: dict[str, str]
    whole: Score
    heads: dict[Kind, tuple[tuple[Score, ...], ...]]
    q: dict[Kind, FloatArray]


class Curve(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores against the number of heads that are left.

    Args:
        heads: Which heads go: those of a kind, or `all`.
        order: What decides which go first, see `pruning.py`.
        seed: Of a random order; None for the others.
        removed: Kind, layer and head in the order in which they go.
        kept: (C,) heads that are left.
        scores: (C,).
    """

    heads: str
    order: str
    seed: int | None
    removed: tuple[tuple[Kind, int, int], ...]
    kept: tuple[int, ...]
    scores: tuple[Score, ...]


class Pruned(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many heads can go.

    Args:
        sentences: That were translated.
        greedy_sentences: On which the greedy order was found.
        curves: All of them.
    """

    sentences: int
    greedy_sentences: int
    curves: tuple[Curve, ...]


class Sibling(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A head that looks much like another.

    Args:
        model: The weights_hash of its model; empty for this one.
        number: Of the head in its model: layer times the heads of a layer, plus head.
        distance: Mean Jensen-Shannon distance of the rows, 0 to 1.
        low: Lower end of its 95 % interval over sentences.
        high: Upper end.
    """

    model: str
    number: int
    distance: float
    low: float
    high: float


class Family(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The nearest heads of every head of a kind.

    Args:
        sentences: Whose rows were compared.
        rows: Queries that were compared.
        nearest: Layer -> head -> its nearest heads, in this model, and then in each other.
        distances: (L * H, L * H) in this model.
        typical: Median distance of two heads of this model: the baseline.
        uniform: (L, H) distance to equal weights.
    """

    sentences: int
    rows: int
    nearest: tuple[tuple[tuple[Sibling, ...], ...], ...]
    distances: FloatArray
    typical: float
    uniform: FloatArray


class OtherModel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model whose encoder heads were compared with those of this one.

    Args:
        name: Of its folder.
        layers: Of its encoder.
        heads: Of each layer.
    """

    name: str
    layers: int
    heads: int


class Resemblance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom each head resembles.

    Args:
        kinds: By kind of attention.
        models: The other models by their weights_hash.
    """

    kinds: dict[Kind, Family]
    models: dict[str, OtherModel]


class Example(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place at which a head shows clearly what it does.

    Args:
        sentence: Number of the probe sentence.
        query: Position of the token that looks.
        key: Position of the token that it looks at most.
        weight: Of this key.
        fits: Whether the place fits the head's first role; False where the head has none that a probe shows.
    """

    sentence: int
    query: int
    key: int
    weight: float
    fits: bool


class Examples(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where each head shows best.

    Args:
        sentences: The probe sentences that any example names, by number.
        targets: Their translations by the model, by the same numbers.
        kinds: Kind -> layer -> head -> examples, clearest first.
    """

    sentences: dict[int, str]
    targets: dict[int, str]
    kinds: dict[Kind, tuple[tuple[tuple[Example, ...], ...], ...]]


class Source(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the numbers of a part come from.

    Args:
        version: Of the program.
        seed: Of everything that is drawn.
        draws: Of sentences, for the intervals.
        data: What a file is for -> its name and sha256.
    """

    version: str
    seed: int
    draws: int
    data: dict[str, tuple[str, str]]


class Atlas(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that was measured of a model's heads; a part that was not measured is None.

    Args:
        format_version: Of this file.
        weights_hash: Of the model.
        layers: L, of each kind.
        heads: H, of each layer.
        sources: By name of the part.
        looks: Where heads look.
        links: Which words they link.
        align: How well they align.
        effects: What they do to the log-probability.
        decode: What they do to translations.
        prune: How many can go.
        resembles: Whom they resemble.
        examples: Where they show best.
    """

    format_version: int
    weights_hash: str
    layers: int
    heads: int
    sources: dict[str, Source]
    looks: Looks | None = None
    links: Links | None = None
    align: Alignment | None = None
    effects: Effects | None = None
    decode: Decoded | None = None
    prune: Pruned | None = None
    resembles: Resemblance | None = None
    examples: Examples | None = None
