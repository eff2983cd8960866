"""Atlases for tests: that of the shipped model, and a small one with drawn numbers that respect the file's bounds."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from transformer_core.analysis.ablation import Head
from transformer_core.analysis.circuit.wiring import Wiring
from transformer_core.analysis.flow.cut import CUT
from transformer_core.atlas.controls import CONTROLS
from transformer_core.atlas.flow import KEPT, ORDERS
from transformer_core.atlas.naming import head_roles
from transformer_core.atlas.patterns import PATTERNS
from transformer_core.atlas.record import (
    Alignment,
    Atlas,
    CircuitCurve,
    Convention,
    Curve,
    Decoded,
    Effects,
    Estimate,
    Family,
    Flows,
    KindLooks,
    Link,
    Links,
    Looks,
    OtherModel,
    Pattern,
    Pruned,
    Resemblance,
    Score,
    Sibling,
    Source,
    Spread,
    TaskCircuit,
)
from transformer_core.atlas.storage import FORMAT_VERSION, shipped_atlas
from transformer_core.attention_maps import KINDS, Kind

if TYPE_CHECKING:
    from viz_app.serving.measurements.head_atlas import HeadAtlas

SHIPPED = Path(__file__).resolve().parents[1] / "checkpoints" / "en-de"
PARTS = ("looks", "links", "align", "effects", "flow", "decode", "prune", "resembles", "circuits")
OFFSETS = (-1, 0, 1)
RELATIONS = ("nsubj", "obj", "det")


def real_atlas() -> Atlas:
    """The atlas of the shipped model, in which every part was measured."""
    atlas = shipped_atlas(SHIPPED)
    assert atlas is not None
    return atlas


def head_atlas(atlas: Atlas) -> HeadAtlas:
    """An atlas as a service has it."""
    from viz_app.serving.measurements.head_atlas import HeadAtlas

    return HeadAtlas(atlas=atlas, roles=head_roles(atlas))


def drawn_atlas(layers: int = 2, heads: int = 4, weights_hash: str = "a" * 64, seed: int = 0) -> Atlas:
    """The atlas; of `RELATIONS` the last was seen too rarely to count."""
    random = np.random.default_rng(seed)
    shape = (layers, heads)

    def estimate(*of: int, low: float = 0.2, high: float = 0.8) -> Estimate:
        value = random.uniform(low, high, of or shape)
        return Estimate(value=value, low=value - 0.05, high=value + 0.05)

    def q() -> np.ndarray:
        return random.uniform(0, 0.1, shape)

    def pattern() -> Pattern:
        fixed = float(random.uniform(0.1, 0.3))
        share, weight = estimate(), estimate()
        return Pattern(share=share, weight=weight, places=200, uniform=0.1, offset=-1, fixed=fixed, q=q())

    def score() -> Score:
        bleu, chrf = random.uniform(10, 40, 2).tolist()
        return Score(bleu=bleu, chrf=chrf, bleu_half=1.0, chrf_half=1.0, bleu_p=0.02, chrf_p=0.5)

    def signed() -> Estimate:
        return estimate(low=-0.1, high=0.2)

    looks = {
        kind: KindLooks(
            patterns={name: pattern() for name in PATTERNS[kind]},
            offsets=random.dirichlet(np.ones(len(OFFSETS)), shape),
            entropy=Spread(heads=estimate(), uniform=2.0, places=200),
            distance=Spread(heads=estimate(), uniform=4.0, places=200),
        )
        for kind in KINDS
    }
    table = (2, len(RELATIONS))
    places = np.full(table, 120.0)
    places[:, -1] = 10.0
    links = Links(
        chosen_on=50,
        sentences=50,
        skipped=0,
        directions=("to_head", "to_dependent"),
        relations=RELATIONS,
        accuracy=estimate(*table, *shape),
        places=places,
        first=random.uniform(0, 1, (*table, *shape)),
        first_places=places,
        offset=np.ones(table),
        fixed=estimate(*table),
        uniform=random.uniform(0.1, 0.2, table),
        gain=estimate(*table, *shape, low=-0.3, high=0.3),
        tested=(
            Link(
                relation="obj",
                direction="to_head",
                layer=layers - 1,
                head=min(2, heads - 1),
                p=0.001,
                q=0.01,
                holds=True,
            ),
            Link(
                relation="nsubj", direction="to_dependent", layer=0, head=min(1, heads - 1), p=0.4, q=0.4, holds=False
            ),
        ),
    )
    rows = {
        name: Convention(error=estimate(), fixed=0.7, offset=1, uniform=0.9, gain=estimate(low=-0.1, high=0.5), q=q())
        for name in ("output", "input")
    }
    kinds = {name: {kind: signed() for kind in KINDS} for name in ("zero", "mean", "random")}
    effects = Effects(
        sentences=50,
        skipped=0,
        tokens=600,
        changes=kinds,
        q={name: {kind: q() for kind in KINDS} for name in ("zero", "mean")},
        gradient={kind: estimate() for kind in KINDS},
        agreement={},
        classes={},
        class_tokens={},
        lengths={},
        length_bounds={},
    )
    decode = Decoded(
        sentences=50,
        signatures={"bleu": "s"},
        whole=score(),
        heads={kind: tuple(tuple(score() for _ in range(heads)) for _ in range(layers)) for kind in KINDS},
        q={kind: q() for kind in KINDS},
    )
    every: list[Head] = [Head(kind, layer, head) for kind in KINDS for layer in range(layers) for head in range(heads)]
    curves = []
    for group, (order, own) in product(
        ("all", *KINDS), (("effect", None), ("random", 0), ("random", 1), ("random", 2))
    ):
        removed = [head for head in every if group in ("all", head[0])]
        random.shuffle(removed)
        kept = tuple(range(len(removed), -1, -4))
        curves.append(
            Curve(
                heads=group,
                order=order,
                seed=own,
                removed=tuple(removed),
                kept=kept,
                scores=tuple(score() for _ in kept),
            )
        )
    count = layers * heads
    resembles = Resemblance(
        kinds={
            kind: Family(
                sentences=50,
                rows=400,
                nearest=tuple(
                    tuple(
                        (
                            Sibling(model="b" * 64, number=0, distance=0.05, low=0.0, high=0.1),
                            Sibling(model="", number=(layer * heads + head + 1) % count, distance=0.1 + 0.01 * head,
                                    low=0.1, high=0.2),
                        )
                        for head in range(heads)
                    )
                    for layer in range(layers)
                ),
                distances=random.uniform(0, 1, (count, count)),
                typical=0.5,
                uniform=random.uniform(0, 1, shape),
            )
            for kind in KINDS
        },
        models={"b" * 64: OtherModel(name="other", layers=1, heads=4)},
    )  # fmt: skip
    single = Estimate(value=np.array(0.3), low=np.array(0.2), high=np.array(0.4))
    flow = Flows(
        sentences=50,
        skipped=0,
        tokens=100,
        share={kind: estimate(low=0.1, high=0.3) for kind in KINDS},
        cut_shares=CUT,
        cut={order: estimate(len(CUT)) for order in ORDERS},
        kept_shares=KEPT,
        kept={order: estimate(len(KEPT)) for order in ORDERS},
        **dict.fromkeys(("whole", "nothing", "with_effect", "heads_with_effect"), single),
    )
    nodes = len(Wiring(layers, heads).senders)
    circuit = TaskCircuit(
        pairs=60,
        groups=12,
        skipped={"length": 4},
        right=0.9,
        clean=4.0,
        corrupted=-3.5,
        scores=estimate(nodes, low=-1, high=3),
        null_limits=np.full(nodes, 0.2),
        edges=tuple((each, nodes - 1, 3.0 - each) for each in range(3)),
        curve=CircuitCurve(
            pairs=30,
            edges=(0, 2, 4, 8),
            kept=np.array([0.0, 0.6, 0.85, 1.0]),
            random=np.array([[0.0, 0.02, 0.1, 1.0], [0.0, 0.0, 0.05, 1.0]]),
            cpr=0.9,
            cmd=0.1,
        ),
        overlap=0.7,
    )
    source = Source(version="1.0", seed=0, draws=100, data={"sentences": ("pairs.tsv", "c" * 64)})
    return Atlas(
        format_version=FORMAT_VERSION,
        weights_hash=weights_hash,
        layers=layers,
        heads=heads,
        sources=dict.fromkeys(PARTS, source),
        looks=Looks(sentences=50, skipped=0, offsets=OFFSETS, kinds=looks),
        links=links,
        align=Alignment(sentences=60, skipped=0, rows=rows),
        effects=effects,
        flow=flow,
        decode=decode,
        prune=Pruned(sentences=50, greedy_sentences=0, curves=tuple(curves)),
        resembles=resembles,
        circuits={"number.en-de": circuit},
    )


def with_controls(atlas: Atlas) -> Atlas:
    """The atlas with drawn controls, and the differences to them."""
    random, effects = np.random.default_rng(9), atlas.effects
    assert effects is not None
    shape = (atlas.layers, atlas.heads)

    def drawn() -> dict[Kind, Estimate]:
        values = {kind: random.uniform(-0.1, 0.1, shape) for kind in KINDS}
        return {kind: Estimate(value=value, low=value - 0.05, high=value + 0.05) for kind, value in values.items()}

    names = [f"{change}/{control}" for change, controls in CONTROLS.items() for control in controls]
    changes = {name: drawn() for name in ("random-mean", "resample")}
    q = {name: {kind: random.uniform(0, 0.1, shape) for kind in KINDS} for name in names}
    differences = {name: drawn() for name in names}
    return replace(
        atlas, effects=replace(effects, changes=effects.changes | changes, q=effects.q | q, differences=differences)
    )
