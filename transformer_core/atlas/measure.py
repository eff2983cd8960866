"""Parts of an atlas, measured one after the other; each is saved as soon as it is done."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from transformer_core import __version__
from transformer_core.analysis.alignment import read_gold
from transformer_core.analysis.circuit.task import FOLDER
from transformer_core.atlas.alignment import measure_alignment
from transformer_core.atlas.circuits import measure_circuit, tasks_of
from transformer_core.atlas.cumulative_ablation import measure_cumulative_ablation
from transformer_core.atlas.decoding import measure_decoding
from transformer_core.atlas.effects import measure_effects
from transformer_core.atlas.examples import measure_examples, probe_sentences
from transformer_core.atlas.flow import measure_flow
from transformer_core.atlas.links import measure_links
from transformer_core.atlas.naming import head_roles
from transformer_core.atlas.record import Atlas, Source
from transformer_core.atlas.resumable_map import ResumableMap
from transformer_core.atlas.similarity import measure_similarity
from transformer_core.atlas.storage import FILE, FORMAT_VERSION, load_atlas, save_atlas
from transformer_core.atlas.targets import measure_targets
from transformer_core.atlas.trees import read_trees
from transformer_core.data import DataError, read_pairs
from transformer_core.progress import tracked
from transformer_core.storage.files import CheckpointError, recover_interrupted_writes, sha256
from transformer_core.storage.manifest import Manifest
from transformer_core.translator import Translator

log = logging.getLogger(__name__)

_MAX_GOLD = 10_000
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Task:
    """Model, data and options of a measurement.

    Args:
        runner: Runs the stages.
        translator: The model.
        out: Folder of the atlas.
        sentences: Parallel text.
        trees: Two treebanks in CoNLL-U: the first for choices, the second for tests.
        alignments: Sentences with gold links.
        other_models: Folders of other models, for `resembles`.
        max_sentences: Sentences for `looks`.
        max_effects: Sentences for `effects`, `flow`, `decode` and `prune`.
        greedy: Sentences for the greedy order of `prune`.
        draws: Draws of sentences, for the intervals.
        seed: Of all draws.
    """

    runner: ResumableMap
    translator: Translator
    out: Path
    sentences: Path
    trees: tuple[Path, ...] = ()
    alignments: Path | None = None
    other_models: tuple[Path, ...] = ()
    max_sentences: int = 1_000
    max_effects: int = 1_000
    greedy: int = 8
    draws: int = 1_000
    seed: int = 0

    def others(self) -> dict[str, tuple[str, Path]]:
        """Return the other models: weights_hash -> name and folder. Raises CheckpointError."""
        hashes = {Manifest.read(folder).weights_hash: (folder.name, folder) for folder in self.other_models}
        return {each: named for each, named in hashes.items() if each and each != self.translator.checkpoint_hash}

    @property
    def circuit_tasks(self) -> tuple[Path, ...]:
        """Pairs in the languages of the model."""
        return tuple(FOLDER / f"{name}.tsv" for name in tasks_of(self.translator))

    @property
    def bootstrap(self) -> dict[str, int]:
        """Arguments of `Bootstrap`."""
        return {"draws": self.draws, "seed": self.seed}

    def pairs(self, count: int) -> list[list[str]]:
        """Read the first sentence pairs. Raises DataError if there is none."""
        return some((list(pair) for pair in islice(read_pairs(self.sentences), count)), self.sentences)


def some(items: Iterable[Item], path: Path) -> list[Item]:
    """Return what a file holds. Raises DataError if that is nothing."""
    if not (found := list(items)):
        raise DataError(f"{path} has no sentences")
    return found


@dataclass(frozen=True)
class Part:
    """Part of an atlas.

    Args:
        measure: Task and atlas so far -> the part.
        data: Fields of the task that name its files.
        after: Part that it needs, if any.
    """

    measure: Callable[[Task, Atlas], Any]
    data: tuple[str, ...] = ("sentences",)
    after: str = ""


def _links(task: Task, _atlas: Atlas) -> Any:
    choose, test = (some(read_trees(path), path) for path in task.trees)
    return measure_links(task.runner, choose, test, task.bootstrap)


def _align(task: Task, _atlas: Atlas) -> Any:
    assert task.alignments is not None
    gold = some(islice(read_gold(task.alignments), _MAX_GOLD), task.alignments)
    return measure_alignment(task.runner, gold, task.bootstrap)


def _prune(task: Task, atlas: Atlas) -> Any:
    assert atlas.effects is not None
    inputs = task.runner, task.translator, task.pairs(task.max_effects)
    return measure_cumulative_ablation(*inputs, effects=atlas.effects, greedy=task.greedy, seed=task.seed)


def _circuits(task: Task, _atlas: Atlas) -> Any:
    return {name: measure_circuit(task.translator, name) for name in tracked(tasks_of(task.translator), "task")}


PARTS: Mapping[str, Part] = {
    "looks": Part(lambda t, _: measure_targets(t.runner, t.translator, t.pairs(t.max_sentences), t.bootstrap)),
    "links": Part(_links, ("trees",)),
    "align": Part(_align, ("alignments",)),
    "effects": Part(lambda t, _: measure_effects(t.runner, t.pairs(t.max_effects), t.bootstrap)),
    "flow": Part(lambda t, _: measure_flow(t.runner, t.pairs(t.max_effects), t.bootstrap)),
    "resembles": Part(lambda t, _: measure_similarity(t.runner, t.pairs(t.max_effects), t.others(), t.bootstrap)),
    "examples": Part(
        lambda t, atlas: measure_examples(t.runner, t.translator, head_roles(atlas), probe_sentences()), ()
    ),
    "decode": Part(lambda t, _: measure_decoding(t.runner, t.translator, t.pairs(t.max_effects))),
    "prune": Part(_prune, after="effects"),
    "circuits": Part(_circuits, ("circuit_tasks",)),
}


def measure(task: Task, parts: Sequence[str]) -> Atlas:
    """Measure parts of an atlas; other parts of an existing file stay.

    Raises:
        CheckpointError: The existing atlas is damaged or of another model.
        ValueError: The data of a part are missing.
    """
    file = task.out / FILE
    recover_interrupted_writes(task.out, FILE)
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
        result = part.measure(task, atlas)
        sources = {**atlas.sources, name: _source(task, part)}
        atlas = replace(atlas, sources=sources, **{name: result})
        save_atlas(atlas, file)
        log.info("measured %s", name)
    task.runner.clear()
    return atlas


def _source(task: Task, part: Part) -> Source:
    data: dict[str, tuple[str, str]] = {}
    for name in part.data:
        paths = getattr(task, name)
        for number, path in enumerate(paths if isinstance(paths, tuple) else (paths,)):
            key = name if not isinstance(paths, tuple) else f"{name}-{number + 1}"
            data[key] = (path.name, sha256(path))
    return Source(version=__version__, seed=task.seed, draws=task.draws, data=data)
