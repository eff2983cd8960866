"""Types of an atlas: every number of every part, with its interval, its count and its baselines.

Layers and heads count from 0. NaN means that nothing was counted.

Shape legend: L layers, H heads, R relations, C counts.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

from transformer_core.attention_maps import Kind

FloatArray = npt.NDArray[np.float64]
Number = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1, le=256)]  # of layers, and of heads in a layer
KEEPS = 0.8  # of a behaviour: what a circuit has to keep
Hash = Annotated[str, Meta(pattern=r"^(?:[0-9a-f]{64})?$")]


class Estimate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Numbers with 95 % bootstrap intervals over sentences.

    Args:
        value: Any shape, usually (L, H).
        low: Lower ends.
        high: Upper ends.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray


class Pattern(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fit of heads to a simple rule, such as "the token before".

    Args:
        share: (L, H) share of the places whose strongest key is a key of the rule.
        weight: (L, H) mean weight on the keys of the rule.
        places: Counted queries.
        uniform: Value of equal weights, as share and as weight.
        offset: The fixed offset that fits the rule best; None for a rule that is an offset.
        fixed: Share explained by this offset; None for a rule that is an offset.
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
    """Number of every head, with the baseline of equal weights.

    Args:
        heads: (L, H).
        uniform: Value of equal weights.
        places: Counted queries.
    """

    heads: Estimate
    uniform: float
    places: int


class KindLooks(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Attention targets of the heads of a kind.

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
    """Attention targets of all heads.

    Args:
        sentences: Number of sentences.
        skipped: Sentences that are empty or too long.
        offsets: Position of the key minus position of the query.
        kinds: By kind of attention.
    """

    sentences: int
    skipped: int
    offsets: tuple[int, ...]
    kinds: dict[Kind, KindLooks]


class Link(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Candidate head for a relation, with its test.

    Args:
        relation: Of Universal Dependencies.
        direction: `to_head`: from dependents to their heads. `to_dependent`: the other way.
        layer: Of the encoder.
        head: Of this layer.
        p: One-sided p-value that it is better than the baseline.
        q: After Benjamini-Hochberg over all candidates.
        holds: Whether it is 10 points above the baseline on at least 50 queries of the test, and q is at most 0.05.
    """

    relation: str
    direction: str
    layer: Number
    head: Number
    p: float
    q: float
    holds: bool


class Links(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Accuracy of the encoder's heads for each direction and relation.

    Args:
        chosen_on: Trees for the choice of offsets and candidates.
        sentences: Trees of the test.
        skipped: Trees of both that are too long.
        directions: `to_head` and `to_dependent`.
        relations: R, of Universal Dependencies.
        accuracy: (2, R, L, H) share of queries whose strongest word is the right one.
        places: (2, R) queries.
        first: (2, R, L, H) accuracy on the trees of the choice.
        first_places: (2, R) queries there.
        offset: (2, R) best fixed offset in words, chosen there.
        fixed: (2, R) its accuracy in the test.
        uniform: (2, R) accuracy of another word drawn at random.
        gain: (2, R, L, H) accuracy minus the baseline: `fixed` or `uniform`, whichever was larger in the choice.
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
    """Alignment error rates with one name of the rows of cross-attention.

    Args:
        error: (L, H) 0 to 1, less is better.
        fixed: Error of the best fixed offset in words.
        offset: That offset.
        uniform: Error of random links, the mean over draws.
        gain: (L, H) `fixed` minus `error`.
        q: (L, H) p-values that a head aligns better, after Benjamini-Hochberg.
    """

    error: Estimate
    fixed: float
    offset: int
    uniform: float
    gain: Estimate
    q: FloatArray


class Alignment(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Word alignment by the heads of cross-attention.

    Args:
        sentences: Sentences with gold links.
        skipped: Sentences that are too long.
        rows: `output`: rows named after the generated token. `input`: after the token read.
    """

    sentences: int
    skipped: int
    rows: dict[str, Convention]


class Effects(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Log-probability that a token of the reference loses without each head, in nats; positive: the head helps.

    Args:
        sentences: Number of sentences.
        skipped: Sentences that are empty or too long.
        tokens: Target tokens, `</s>` included.
        changes: Replacement of the output, or control -> kind -> (L, H).
        q: Change (against 0) or difference -> kind -> (L, H) two-sided p-values, after Benjamini-Hochberg of each.
        gradient: Kind -> (L, H) gradient importance (Michel, Levy and Neubig 2019).
        agreement: Change -> Spearman's rank correlation of effect and gradient importance, over all heads and by kind.
        classes: Class of the target token -> kind -> (L, H), effects of `mean`.
        class_tokens: Class -> tokens.
        lengths: Third of sentences by length -> kind -> (L, H), effects of `mean`.
        length_bounds: Third -> source tokens of its shortest and its longest sentence.
        differences: Change/control -> kind -> (L, H), effect minus that of the control; empty in an older atlas.
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
    differences: dict[str, dict[Kind, Estimate]] = {}


class Flows(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Worth of the flow, see `flow.py`.

    Args:
        sentences: Number of measured sentences.
        skipped: Sentences that the model cannot read.
        tokens: Tokens whose edges were cut and kept.
        share: Kind -> (L, H), share of all flow, the sum of the sizes of all edges.
        cut_shares: Shares of the edges that were cut.
        cut: Order of the edges -> (cuts,), fall of the log-probability of a token in nats.
        kept_shares: Shares of the edges of the graphs.
        kept: Order of the edges -> (graphs,), log-probability of a token with these edges alone.
        whole: Log-probability with all edges.
        nothing: Log-probability with none.
        with_effect: Pearson's correlation of flow and effect, over heads and tokens.
        heads_with_effect: Spearman's rank correlation of the share of flow and the mean effect, over heads.
    """

    sentences: Number
    skipped: Number
    tokens: Number
    share: dict[Kind, Estimate]
    cut_shares: tuple[float, ...]
    cut: dict[str, Estimate]
    kept_shares: tuple[float, ...]
    kept: dict[str, Estimate]
    whole: Estimate
    nothing: Estimate
    with_effect: Estimate
    heads_with_effect: Estimate


class Score(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """BLEU and chrF of greedy translations, 0 to 100.

    Args:
        bleu: Corpus BLEU.
        chrf: Corpus chrF2.
        bleu_half: Half the width of the 95 % interval of `bleu` over sentences.
        chrf_half: Half the width for `chrf`.
        bleu_p: P-value of the difference to the whole model, by paired bootstrap resampling (Koehn 2004).
        chrf_p: P-value for `chrf`.
        bleu_change: 95 % interval of the difference to the whole model; None in an older atlas.
        chrf_change: Interval for `chrf`.
    """

    bleu: float
    chrf: float
    bleu_half: float
    chrf_half: float
    bleu_p: float
    chrf_p: float
    bleu_change: tuple[float, float] | None = None
    chrf_change: tuple[float, float] | None = None


class Decoded(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores of translations without each head.

    Args:
        sentences: Translated sentences.
        signatures: sacreBLEU's.
        whole: The whole model; its p-values are 1.
        heads: Kind -> layer -> head.
        q: Kind -> (L, H) `bleu_p` after Benjamini-Hochberg.
    """

    sentences: int
    signatures: dict[str, str]
    whole: Score
    heads: dict[Kind, tuple[tuple[Score, ...], ...]]
    q: dict[Kind, FloatArray]


class Curve(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores against the number of remaining heads.

    Args:
        heads: Kind of the removed heads, or `all`.
        order: Order of removal, see `cumulative_ablation.py`.
        seed: Of a random order; None for the others.
        removed: Kind, layer and head in the order of removal.
        kept: (C,) numbers of remaining heads.
        scores: (C,).
    """

    heads: str
    order: str
    seed: int | None
    removed: tuple[tuple[Kind, Number, Number], ...]
    kept: tuple[Number, ...]
    scores: tuple[Score, ...]


class Pruned(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cumulative ablation.

    Args:
        sentences: Translated sentences.
        greedy_sentences: Sentences for the greedy order.
        curves: All curves.
    """

    sentences: int
    greedy_sentences: int
    curves: tuple[Curve, ...]


class Sibling(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Similar head.

    Args:
        model: weights_hash of its model; empty for this one.
        number: Number of the head in its model: layer times the heads of a layer, plus head.
        distance: Mean Jensen-Shannon distance of the rows, 0 to 1.
        low: Lower end of its 95 % interval over sentences.
        high: Upper end.
    """

    model: Hash
    number: Number
    distance: float
    low: float
    high: float


class Family(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nearest heads of every head of a kind.

    Args:
        sentences: Compared sentences.
        rows: Compared queries.
        nearest: Layer -> head -> its nearest heads, in this model, and then in each other model.
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
    """Other model whose encoder heads were compared.

    Args:
        name: Of its folder.
        layers: Of its encoder.
        heads: Of each layer.
    """

    name: str
    layers: Count
    heads: Count


class Resemblance(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Similarity of heads.

    Args:
        kinds: By kind of attention.
        models: The other models by their weights_hash.
    """

    kinds: dict[Kind, Family]
    models: dict[str, OtherModel]


class Example(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Clear example of a head's role.

    Args:
        sentence: Number of the probe sentence.
        query: Position of the query.
        key: Position of the key with the largest weight.
        weight: Weight of this key.
        fits: Whether the place fits the head's first role; False without a role that a probe can show.
    """

    sentence: Number
    query: Number
    key: Number
    weight: float
    fits: bool


class Examples(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Clearest examples of each head.

    Args:
        sentences: Probe sentences of the examples, by number.
        targets: Translations of these sentences by the model, by number.
        kinds: Kind -> layer -> head -> examples, clearest first.
    """

    sentences: dict[int, str]
    targets: dict[int, str]
    kinds: dict[Kind, tuple[tuple[tuple[Example, ...], ...], ...]]


class CircuitCurve(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Share of a behaviour that circuits of growing size keep: ordered on one half of the groups, run on the other.

    Args:
        pairs: Of the half that was run.
        edges: (K,) numbers of edges, from none to all.
        kept: (K,) shares.
        random: (O, K) shares of as many random edges, in O orders.
        cpr: Area under the curve.
        cmd: Area between the curve and 1.
    """

    pairs: Number
    edges: tuple[Number, ...]
    kept: FloatArray
    random: FloatArray
    cpr: float
    cmd: float


class TaskCircuit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Circuit of a task, see `circuits.py`; N senders and R receivers, numbered as in `Wiring(L, H)`.

    Args:
        pairs: Number of minimal pairs.
        groups: Number of groups of like pairs.
        skipped: Reason -> pairs left out.
        right: Share of pairs in which the model prefers both right answers.
        clean: Mean metric of the clean sentences, in nats.
        corrupted: Mean metric of the corrupted ones.
        scores: (N,) what the metric loses without each node, in nats.
        null_limits: (N,) what a node of this sort reaches with donors of the same class; NaN if it is not known.
        edges: Strongest edges: sender, receiver, score in nats; empty for weak behaviour, as are the next two.
        curve: What they keep.
        overlap: Jaccard index of the 50 strongest edges of both halves of the groups.
    """

    pairs: Number
    groups: Number
    skipped: dict[str, Number]
    right: float
    clean: float
    corrupted: float
    scores: Estimate
    null_limits: FloatArray
    edges: tuple[tuple[Number, Number, float], ...] = ()
    curve: CircuitCurve | None = None
    overlap: float | None = None

    @property
    def smallest(self) -> int | None:
        """Number of edges of the smallest circuit that keeps 80 % on held-out pairs; None if there is none."""
        sizes = zip(self.curve.edges, self.curve.kept, strict=True) if self.curve else ()
        return next((edges for edges, kept in sizes if kept >= KEEPS), None)

    @property
    def is_specific(self) -> bool:
        """Whether no random circuit of that size keeps 80 %."""
        if self.curve is None or self.smallest is None:
            return False
        return bool((self.curve.random[:, self.curve.edges.index(self.smallest)] < KEEPS).all())

    @property
    def carriers(self) -> tuple[int, ...]:
        """Nodes of the smallest circuit that are beyond the null, strongest first; empty if it is not specific."""
        if not self.is_specific:
            return ()
        senders = {sender for sender, _, _ in self.edges[: self.smallest]}
        size = np.abs(self.scores.value)
        return tuple(int(at) for at in (-size).argsort() if at in senders and size[at] > self.null_limits[at])


class Source(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Provenance of a part.

    Args:
        version: Version of the program.
        seed: Of all draws.
        draws: Draws of sentences, for the intervals.
        data: Purpose of a file -> its name and sha256.
    """

    version: str
    seed: int
    draws: int
    data: dict[str, tuple[str, str]]


class Atlas(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Measurements of a model's heads; a missing part is None.

    Args:
        format_version: Of this file.
        weights_hash: Of the model.
        layers: L, of each kind.
        heads: H, of each layer.
        sources: Provenance by part.
        looks: Attention targets.
        links: Dependency relations.
        align: Word alignment.
        effects: Effects on the log-probability.
        flow: Worth of the flow.
        decode: Effects on translations.
        prune: Cumulative ablation.
        resembles: Similarity of heads.
        examples: Clearest examples.
        circuits: Task -> its circuit.
    """

    format_version: int
    weights_hash: Hash
    layers: Count
    heads: Count
    sources: dict[str, Source]
    looks: Looks | None = None
    links: Links | None = None
    align: Alignment | None = None
    effects: Effects | None = None
    flow: Flows | None = None
    decode: Decoded | None = None
    prune: Pruned | None = None
    resembles: Resemblance | None = None
    examples: Examples | None = None
    circuits: dict[str, TaskCircuit] | None = None

    def inputs(self, part: str) -> dict[str, tuple[str, str, int]]:
        """Return the files of a measured part: purpose -> name, sha256, and the number of sentences that count."""
        counts = []
        match getattr(self, part, None):
            case Links() as measured:
                counts = [measured.chosen_on, measured.sentences]
            case Resemblance() as measured:
                counts = [max((family.sentences for family in measured.kinds.values()), default=0)]
            case Looks() | Alignment() | Effects() | Flows() | Decoded() | Pruned() as measured:
                counts = [measured.sentences]
        return {use: (*file, n) for (use, file), n in zip(self.sources[part].data.items(), counts, strict=False)}
