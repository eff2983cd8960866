"""The recipe of every bench: its command and its Python code give the numbers that the bench shows."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.app.lessons.conftest import Visit
from transformer_core.analysis import minimal_pairs
from transformer_core.atlas import circuits
from transformer_core.attention_maps import KINDS
from transformer_core.cli import main as core
from viz_app.lessons.context import StageData
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.bench import benches

Numbers = Any
Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A bench with settings.

    `shown` is what the bench shows, `code` the same from the last line of the Python code, `file` what the bench shows
    as the file of the command has it, with `written` to take it from there; no `file`, no command.
    """

    bench: str
    settings: Mapping[str, Any]
    shown: Callable[[StageData], Numbers]
    code: Callable[[Any], Numbers] = np.asarray
    file: Callable[[StageData], Numbers] | None = None
    written: Callable[[Arrays], Numbers] = lambda _: None

    def __str__(self) -> str:
        return " ".join([self.bench, *(f"{name}={value}" for name, value in self.settings.items())])


def array(name: str) -> Callable[[StageData], Numbers]:
    return lambda data: data.arrays[name]


def early_texts(data: StageData) -> list[str]:
    return [" ".join(word for word, _ in row) for row in data.values["early"]["rows"]]


def circuit_scores(data: StageData) -> Numbers:
    return np.sort([score for _, score, *_ in data.values["circuit"]["nodes"]])


def of_method(method: str, side: str) -> Callable[[StageData], Numbers]:
    return lambda data: data.arrays[side][data.values["trace"]["methods"].index(method)]


def off(**settings: Any) -> Case:
    return Case(
        bench="off",
        settings=settings,
        shown=lambda data: data.arrays["effects"][-len(data.arrays["effects"]) // 3 :],
        code=lambda cross: cross.flatten(0, 1),
        file=array("effects"),
        written=lambda file: np.concatenate([file[kind].reshape(-1, file[kind].shape[-1]) for kind in KINDS]),
    )


def array_case(bench: str, shown: str, file: str = "", **settings: Any) -> Case:
    """A bench that shows an array, whose file has one of this name."""
    return Case(
        bench=bench,
        settings=settings,
        shown=array(shown),
        file=array(file or shown),
        written=lambda written: written[file or shown],
    )


def trace(method: str, side: str) -> Case:
    return Case(
        bench="trace",
        settings={"method": method, "side": side},
        shown=of_method(method, "source"),
        code=lambda source: source.detach().numpy(),
        file=of_method(method, side),
        written=lambda file: file[side],
    )


def made_of(against: str, parts: Callable[[StageData], Numbers]) -> Case:
    return Case(
        bench="flow",
        settings={"word": 1, "against": against},
        shown=lambda data: data.arrays["flow_cuts"][0],
        file=lambda data: parts(data)[: len(data.values["flow"]["source"])],
        written=lambda file: file["source"][0],
    )


CASES = [
    off(),
    off(frozen=True),
    Case(
        bench="parts",
        settings={},
        shown=lambda data: data.arrays["effects"][: len(data.values["parts"]["parts"])],
    ),
    array_case("cumulative", "log_p", order="effect"),
    array_case("cumulative", "log_p", "random", order="gradient"),
    Case(bench="redirect", settings={"edits": "c2.1.1o2_e1.2.0a"}, shown=array("changes")),
    trace("leave-one-out", "target"),
    made_of("mean", lambda data: data.arrays["flow_parts"][1]),
    made_of("rival", array("flow_rival")),
    array_case("depth", "rank", "log_p"),
    Case(
        bench="early",
        settings={},
        shown=early_texts,
        code=list,
        file=early_texts,
        written=lambda file: file["texts"].tolist(),
    ),
    array_case("swap", "recovered", pair="own", other="The dog is red."),
    Case(
        bench="circuit",
        settings={"task": "pronoun"},
        shown=circuit_scores,
        code=lambda scores: np.sort(scores),
        file=circuit_scores,
        written=lambda file: np.sort(file["score"]),
    ),
    Case(
        bench="why",
        settings={"chosen": "cross.2.2", "view": "tokens", "query": 2, "key": 1},
        shown=lambda data: (
            np.einsum("ad,bd->ab", data.arrays["why_tokens_queries"][:, 2], data.arrays["why_tokens_keys"][:, 1])
            * data.values["why"]["scale"]
        ),
    ),
    Case(
        bench="why",
        settings={"chosen": "cross.2.2", "view": "dims", "query": 2, "key": 1},
        shown=lambda data: (
            data.arrays["why_dims_queries"][0, 2] * data.arrays["why_dims_keys"][0, 1] * data.values["why"]["scale"]
        ),
    ),
]


def agree(one: Numbers, other: Numbers) -> None:
    if isinstance(other, list):
        assert one == other
    else:
        np.testing.assert_allclose(one, other, atol=1e-3)


def test_every_bench_has_a_case() -> None:
    assert {case.bench for case in CASES} == set(benches())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_recipes_give_the_same_numbers(
    case: Case, visit: Visit, random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minimal_pairs, "MIN_DIFFERENCE", 0.0)  # random weights tell sentences apart only a little
    monkeypatch.setattr(circuits, "tasks_of", lambda _: ("pronoun.en-de",))
    context = visit(case.bench, **case.settings)
    data, recipe = lab.data(context), lab.recipe(case.bench, context)
    assert data.values["bench"] == case.bench and recipe is not None
    shutil.copytree(random_checkpoint, tmp_path / random_checkpoint.name)
    monkeypatch.chdir(tmp_path)
    assert bool(recipe.command) == bool(case.file)
    if case.file is not None:
        assert core(shlex.split(recipe.command)[3:]) == 0
        (path,) = tmp_path.glob("*.npz")
        with np.load(path) as file:
            agree(case.written(file), case.file(data))
    *lines, last = recipe.python.splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    agree(case.code(eval(last, names)), case.shown(data))
