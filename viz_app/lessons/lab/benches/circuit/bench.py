"""Bench "On many pairs": the circuit of a task, from the model's atlas or measured here.

Shape legend: N nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.comparison import compared
from viz_app.lessons.lab.heads import named_head
from viz_app.lessons.lab.limits import PassFlops, check_work
from viz_app.lessons.lab.recipe import Recipe
from viz_app.text.role_words import task_words

if TYPE_CHECKING:
    from transformer_core.analysis.circuit import MinimalPair
    from transformer_core.atlas.record import TaskCircuit

FIRST = "number"  # task
MAX_EDGES = 200  # that are drawn
_PASSES = 100  # over all edges, of a pair: integrated gradients, then circuits of many sizes in four orders
_PREFIX = 3  # tokens at which translations part, about


def data(context: LessonContext) -> StageData:
    """Return nodes, edges and the curve of the task, and one of its pairs, or why there are none."""
    from transformer_core.analysis.circuit import read_task
    from transformer_core.analysis.circuit.result import node_of
    from transformer_core.analysis.circuit.wiring import Wiring
    from transformer_core.analysis.minimal_pairs import PatchingError

    if (task := _task(context)) is None:
        return StageData(values={"problem": "none"})
    answered, pairs = {"task": task.partition(".")[0]}, read_task(task)
    try:
        circuit = _measured(context, task, pairs)
    except PatchingError:
        return StageData(values={"problem": "unlike"}, answers=answered)
    (clean, corrupted, answers, _), config = pairs[0], context.service.translator.config
    sentences, starts = compared(clean, corrupted), compared(*answers or ("", ""))
    wiring, scores, curve = Wiring(config.num_layers, config.num_heads), circuit.scores, circuit.curve
    columns = np.stack([scores.value, scores.low, scores.high, circuit.null_limits], axis=1)  # (N, 4)
    edges = [(wiring.senders[a], wiring.receivers[b], score) for a, b, score in circuit.edges[:MAX_EDGES]]
    values = {
        "problem": None if curve else "weak",
        "example": [sentences, {side: _start(words) for side, words in starts.items()}],
        **{name: getattr(circuit, name) for name in ("pairs", "groups", "right", "smallest")},
        "difference": circuit.clean - circuit.corrupted,
        "layers": config.num_layers,
        "heads": config.num_heads,
        "nodes": [
            [wiring.senders[at], *np.where(np.isnan(columns[at]), None, columns[at])]
            for at in (-np.abs(scores.value)).argsort(kind="stable")
        ],
        "edges": [
            {"sender": sender, "node": node_of(to), "input": to.removeprefix(node_of(to))[1:2].upper(), "score": score}
            for sender, to, score in edges
        ],
        "curve": curve and [[*curve.edges], curve.kept.tolist(), *curve.random.tolist()],
    }
    return StageData(values=values, answers=answered)


def _start(words: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Return the words up to the first that differs."""
    end = next((at for at, (_, differs) in enumerate(words, start=1) if differs), len(words))
    return [*words[:end], ("…", False)]


def choices(context: LessonContext) -> dict[str, Any]:
    """Offer the tasks in the model's languages, with their names."""
    return {"tasks": {short: task_words(context.t, name) for short, name in _tasks(context).items()}}


def _tasks(context: LessonContext) -> dict[str, str]:
    """Return the tasks by their short names: `number` -> `number.en-de`, the first."""
    from transformer_core.atlas.circuits import tasks_of  # with torch, which takes seconds to import

    names = sorted(tasks_of(context.service.translator), key=lambda name: not name.startswith(FIRST))
    return {name.partition(".")[0]: name for name in names}


def _task(context: LessonContext) -> str | None:
    """Return the chosen task; None where there is none."""
    names = _tasks(context)
    return names.get(context.state.choice("task", next(iter(names), ""), tuple(names)))


def _measured(context: LessonContext, task: str, pairs: list[MinimalPair]) -> TaskCircuit:
    """Return the circuit of the model's atlas, or measure it."""
    from transformer_core.analysis.circuit.wiring import Wiring
    from transformer_core.atlas.circuits import measure_circuit

    atlas, translator = context.service.head_atlas.atlas, context.service.translator
    if atlas and atlas.circuits and task in atlas.circuits:
        return atlas.circuits[task]
    config, length = translator.config, len(translator.encode(pairs[0].clean).ids) + 1
    every_edge = Wiring(config.num_layers, config.num_heads).exists.numel() * 2 * config.d_model * (length + _PREFIX)
    check_work(_PASSES * len(pairs) * (PassFlops.from_lengths(config, length, _PREFIX).whole + every_edge))
    return context.compute_once(("lab.circuit", task), lambda stop: measure_circuit(translator, task, stop))


def recipe(context: LessonContext) -> Recipe | None:
    """Give the circuit as a command and in Python."""
    if (task := _task(context)) is None:
        return None
    return recipes.recipe(
        context,
        "from transformer_core.analysis.circuit import circuit",
        f"found = circuit(translator, {task!r})",
        "found.nodes.mean(dim=0)  # nats of each of found.node_names; found.graph() has the edges",
        command=("circuit", "--task", task, "--curve"),
        out="circuit.npz",
    )


BENCH = Bench(data=data, recipe=recipe, head=named_head, choices=choices)
