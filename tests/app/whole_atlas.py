"""The atlas of the shipped model with every part that a card shows; parts that it lacks get numbers drawn at random."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from transformer_core.analysis.atlas.record import (
    Atlas,
    Decoded,
    Effects,
    Estimate,
    Example,
    Examples,
    Family,
    OtherModel,
    Resemblance,
    Score,
    Sibling,
)
from transformer_core.analysis.atlas.storage import FILE, shipped_atlas, to_bytes
from transformer_core.attention_maps import KINDS
from transformer_core.derived import write_derived

SHIPPED = Path(__file__).resolve().parents[2] / "checkpoints" / "en-de"
OTHER = "b" * 64  # the weights_hash of another model
SENTENCES = {3: "The dog sleeps.", 17: "He reads a book in the garden."}
TARGETS = {3: "Der Hund schläft.", 17: "Er liest ein Buch im Garten."}


def whole_atlas() -> Atlas:
    """The measured parts `looks`, `links` and `align`; the others as random numbers."""
    atlas = shipped_atlas(SHIPPED)
    assert atlas is not None
    layers, heads = atlas.layers, atlas.heads
    rng = np.random.default_rng(7)

    def estimate() -> Estimate:
        value = rng.normal(0, 0.02, (layers, heads))
        return Estimate(value=value, low=value - 0.01, high=value + 0.01)

    def every(make: Any) -> Any:
        return tuple(tuple(make(layer, head) for head in range(heads)) for layer in range(layers))

    def siblings(layer: int, head: int) -> tuple[Sibling, ...]:
        numbers = rng.choice(layers * heads, 3, replace=False)
        own = tuple(Sibling(model="", number=int(n), distance=0.25, low=0.2, high=0.3) for n in numbers)
        return (*own, Sibling(model=OTHER, number=7, distance=0.25, low=0.2, high=0.3))

    def examples(layer: int, head: int) -> tuple[Example, ...]:
        return tuple(Example(sentence=s, query=0, key=1, weight=0.9, fits=False) for s in SENTENCES)

    score = Score(bleu=40.25, chrf=60.0, bleu_half=0.5, chrf_half=0.5, bleu_p=0.2, chrf_p=0.2)
    kinds = {kind: estimate() for kind in KINDS}
    q = {kind: rng.uniform(0, 0.1, (layers, heads)) for kind in KINDS}
    return msgspec.structs.replace(
        atlas,
        effects=Effects(
            sentences=10, skipped=0, tokens=1_234, changes={"mean": kinds, "random": {k: estimate() for k in KINDS}},
            q={"mean": q, "random": q}, gradient=kinds, agreement={}, classes={}, class_tokens={}, lengths={},
            length_bounds={},
        ),
        decode=Decoded(
            sentences=10, signatures={}, whole=score, heads={kind: every(lambda *_: score) for kind in KINDS}, q=q
        ),
        resembles=Resemblance(
            kinds={
                kind: Family(
                    sentences=10, rows=90, nearest=every(siblings), distances=np.zeros((layers * heads,) * 2),
                    typical=0.5, uniform=np.full((layers, heads), 0.6),
                )
                for kind in KINDS
            },
            models={OTHER: OtherModel(name="other", layers=2, heads=5)},
        ),
        examples=Examples(sentences=SENTENCES, targets=TARGETS, kinds={kind: every(examples) for kind in KINDS}),
    )  # fmt: skip


def with_whole_atlas(folder: Path) -> Path:
    """A copy of the shipped checkpoint with that atlas."""
    shutil.copytree(SHIPPED, folder)
    atlas = whole_atlas()
    write_derived(folder, atlas.weights_hash, {FILE: to_bytes(atlas)})
    return folder
