"""The parts of an atlas, one after the other; each is written as soon as it is done."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from transformer_core import __version__
from transformer_core.analysis.alignment import read_gold
from transformer_core.atlas.alignment import measure_alignment
from transformer_core.atlas.cumulative_ablation import measure_pruning
from transformer_core.atlas.decoding import measure_decoding
from transformer_core.atlas.effects import measure_effects
from transformer_core.atlas.examples import measure_examples, probe_sentences
from transformer_core.atlas.links import measure_links
from transformer_core.atlas.naming import head_roles
from transformer_core.atlas.record import Atlas, Source
from transformer_core.atlas.resumable_map import Bench
from transformer_core.atlas.similarity import measure_resemblance
from transformer_core.atlas.storage import FILE, FORMAT_VERSION, load_atlas, save_atlas
from transformer_core.atlas.targets import measure_looks
from transformer_core.atlas.trees import read_trees
from transformer_core.data import DataError, read_pairs
from transformer_core.storage.files import CheckpointError, sha256
from transformer_core.storage.manifest import Manifest
from transformer_core.translator import Translator

log = logging.getLogger(__name__)

_MAX_GOLD = 10_000


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is measured, and on what.

    Args:
        bench: Where the work is done.
        translator: The model.
        out: Folder of the atlas.
        sentences: Parallel text.
        trees: Two treebanks in CoNLL-U: the first to choose on, the second to test on.
        alignments: Sentences with links made by hand.
        beside: Folders of other models, for `resembles`.
        most: Sentences that count for `looks`.
        most_effects: Sentences that count for `effects`, `decode` and `prune`.
        greedy: Sentences on which the greedy order of `prune` is found.
        draws: Of sentences, for the intervals.
        seed: Of everything that is drawn.
    """

    bench: Bench
    translator: Translator
    out: Path
    sentences: Path
    trees: tuple[Path, ...] = ()
    alignments: Path | None = None
    beside: tuple[Path, ...] = ()
    most: int = 1_000
    most_effects: int = 200
    greedy: int = 8
    draws: int = 1_000
    seed: int = 0

    def others(self) -> dict[str, tuple[str, Path]]:
        """The other models: weights_hash -> name and folder. Raises CheckpointError."""
        hashes = {Manifest.read(folder).weights_hash: (folder.name, folder) for folder in self.beside}
        return {each: named for each, named in hashes.items() if each and each != self.translator.checkpoint_hash}

    @property
    def bootstrap(self) -> dict[str, int]:
        """For `Bootstrap`."""
        return {"draws": self.draws, "seed": self.seed}

    def pairs(self, most: int) -> list[list[str]]:
        """The first sentence pairs. Raises DataError when there is none."""
        found = [list(pair) for pair in islice(read_pairs(self.sentences), most)]
        if not found:
            raise DataError(f"{self.sentences} has no sentences")
        return found


@dataclass(frozen=True)
class Part:
    """One part of an atlas.

    Args:
        about: What it is, for the help.
        measure: The task and the atlas so far -> the part.
        data: Fields of the task with the files that it reads.
        after: The part that it needs, if any.
    """

    about: str
    measure: Callable[[Task, Atlas], Any]
    data: tuple[str, ...] = ("sentences",)
    after: str = ""


def _looks(task: Task, _atlas: Atlas) -> Any:
    return measure_looks(task.bench, task.translator, task.pairs(task.most), task.bootstrap)


def _links(task: Task, _atlas: Atlas) -> Any:
    choose, test = (list(read_trees(path)) for path in task.trees)
    return measure_links(task.bench, choose, test, task.bootstrap)


def _align(task: Task, _atlas: Atlas) -> Any:
    assert task.alignments is not None
    return measure_alignment(task.bench, list(islice(read_gold(task.alignments), _MAX_GOLD)), task.bootstrap)


def _effects(task: Task, _atlas: Atlas) -> Any:
    return measure_effects(task.bench, task.pairs(task.most_effects), task.bootstrap)


def _decode(task: Task, _atlas: Atlas) -> Any:
    return measure_decoding(task.bench, task.translator, task.pairs(task.most_effects))


def _prune(task: Task, atlas: Atlas) -> Any:
    assert atlas.effects is not None
    pairs = task.pairs(task.most_effects)
    return measure_pruning(
        task.bench, task.translator, pairs, effects=atlas.effects, greedy=task.greedy, seed=task.seed
    )


def _resembles(task: Task, _atlas: Atlas) -> Any:
    return measure_resemblance(task.bench, task.pairs(task.most_effects), task.others(), task.bootstrap)


def _examples(task: Task, atlas: Atlas) -> Any:
    return measure_examples(task.bench, task.translator, head_roles(atlas), probe_sentences())


PARTS: Mapping[str, Part] = {
    "looks": Part("where heads look: offsets, </s>, punctuation, copies, the rarest word", _looks),
    "links": Part("which dependency relations encoder heads follow", _links, ("trees",)),
    "align": Part("how well encoder-decoder heads align words", _align, ("alignments",)),
    "effects": Part("what the log-probability loses without each head", _effects),
    "resembles": Part("which heads of this model and of others look alike", _resembles),
    "examples": Part("the clearest of our own 300 probe sentences for each head", _examples, ()),
    "decode": Part("what BLEU and chrF of greedy translations lose without each head", _decode),
    "prune": Part("BLEU and chrF against the number of heads that are left", _prune, after="effects"),
}


def measure(task: Task, parts: Sequence[str]) -> Atlas:
    """Measure parts of an atlas; other parts that are there of the same model stay.

    Raises:
        CheckpointError: The atlas that is there is damaged or of another model.
        ValueError: A part lacks what it needs.
    """
    file = task.out / FILE
    identity, config = task.translator.checkpoint_hash, task.translator.config
    atlas = Atlas(
        format_version=FORMAT_VERSION,
        weights_hash=identity,
        layers=config.num_layers,
        heads=config.num_heads,
        sources={},
    )
    if file.exists():
        atlas = load_atlas(file, identity)
    for name in PARTS:
        if name not in parts:
            continue
        part = PARTS[name]
        if part.after and getattr(atlas, part.after) is None:
            raise CheckpointError(file, f"has no part {part.after}, which {name} needs: measure it first")
        found = part.measure(task, atlas)
        sources = {**atlas.sources, name: _source(task, part)}
        atlas = replace(atlas, sources=sources, **{name: found})
        save_atlas(atlas, file)
        log.info("measured %s", name)
    task.bench.clear()
    return atlas


def _source(task: Task, part: Part) -> Source:
    data: dict[str, tuple[str, str]] = {}
    for name in part.data:
        given = getattr(task, name)
        for number, path in enumerate(given if isinstance(given, tuple) else (given,)):
            key = name if not isinstance(given, tuple) else f"{name}-{number + 1}"
            data[key] = (path.name, sha256(path))
    return Source(version=__version__, seed=task.seed, draws=task.draws, data=data)
