"""Circuits of an atlas: equal to the library, the smallest that is faithful, files that cannot be trusted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from tests.atlas_samples import drawn_atlas
from transformer_core import Translator, load
from transformer_core.analysis.circuit import MinimalPair, circuit
from transformer_core.analysis.circuit.task import FOLDER
from transformer_core.analysis.circuit.wiring import Wiring
from transformer_core.atlas.circuits import SHARES, measure_circuit, tasks_of
from transformer_core.atlas.measure import Task, measure
from transformer_core.atlas.resumable_map import ResumableMap
from transformer_core.atlas.storage import load_atlas, to_bytes
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.storage.files import CheckpointError, sha256

WHO = ("man", "woman", "child", "friend")
PAIRS = [
    MinimalPair(f"The {who} sees a {one}.", f"The {who} sees a {other}.", None, f"{who} {number}")
    for who in WHO
    for number, (one, other) in enumerate([("house", "horse"), ("dog", "door"), ("horse", "bicycle")])
]


@pytest.fixture
def pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer_core.analysis.circuit.find.read_task", lambda _: PAIRS)


@pytest.mark.usefixtures("pairs")
def test_it_is_the_circuit_of_the_library(learned: Translator) -> None:
    result = measure_circuit(learned, "number.en-de")
    expected = circuit(learned, PAIRS)
    wiring, mean = expected.wiring, expected.edges.mean(dim=0)
    assert (result.pairs, result.groups) == (len(expected.pairs), len({pair.group for pair in expected.pairs}))
    assert sum(result.skipped.values()) == len(PAIRS) - result.pairs
    assert result.clean - result.corrupted == pytest.approx(expected.difference, abs=1e-3)
    np.testing.assert_allclose(result.scores.value, expected.nodes.mean(dim=0), atol=1e-5)
    by_name = dict(zip(expected.edge_names, mean.tolist(), strict=True))
    for sender, receiver, score in result.edges:
        assert by_name[wiring.senders[sender], wiring.receivers[receiver]] == pytest.approx(score, abs=1e-4)
    assert [abs(score) for _, _, score in result.edges] == sorted(
        (abs(score) for *_, score in result.edges), reverse=True
    )
    kept = expected.faithfulness(held_out=True, shares=SHARES)
    assert result.curve is not None and result.curve.pairs == kept.pairs < result.pairs
    np.testing.assert_allclose(result.curve.kept, kept.kept, atol=1e-4)
    assert result.smallest == kept.smallest() and len(result.edges) >= min(200, len(by_name))
    with pytest.raises(DecodingStopped):
        measure_circuit(learned, "number.en-de", lambda: True)


@pytest.mark.usefixtures("pairs")
def test_weak_behaviour_has_no_circuit(learned: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer_core.atlas.circuits.MIN_DIFFERENCE", 1e9)
    result = measure_circuit(learned, "number.en-de")
    assert result.curve is None and not result.edges and result.overlap is None
    assert result.smallest is None and not result.is_specific and not result.carriers
    assert np.abs(result.scores.value).max() > 0


def test_a_model_has_the_tasks_of_its_languages(learned: Translator) -> None:
    assert tasks_of(learned) == ()
    german = tasks_of(load("en-de"))
    assert "number.en-de" in german and all(name.endswith(".en-de") for name in german)


def test_carriers_are_in_a_small_circuit_and_beyond_the_null() -> None:
    drawn = drawn_atlas().circuits
    assert drawn is not None
    task = drawn["number.en-de"]
    values = np.zeros_like(task.scores.value)
    values[:4] = 0.3, -0.9, 0.1, 5.0  # within the null, and outside the four strongest edges
    edges = (*((node, 20, 1.0) for node in (0, 1, 2, 1)), (3, 20, 0.1))
    task = replace(task, scores=replace(task.scores, value=values), edges=edges)
    assert task.curve is not None and task.smallest == 4 and task.is_specific
    assert task.carriers == (1, 0)
    lucky = replace(task, curve=replace(task.curve, random=task.curve.random + np.array([[0.0], [0.8]])))
    assert not lucky.is_specific and lucky.carriers == ()
    useless = replace(task, curve=replace(task.curve, kept=task.curve.kept * 0.7))
    assert useless.smallest is None and useless.carriers == ()


@pytest.mark.usefixtures("pairs")
def test_a_part_of_the_atlas(
    runner: ResumableMap, translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Task, "circuit_tasks", (FOLDER / "number.en-de.tsv",))
    monkeypatch.setattr("transformer_core.atlas.measure.tasks_of", lambda _: ("number.en-de",))
    task = Task(runner=runner, translator=translator, out=tmp_path, sentences=tmp_path)
    atlas = measure(task, ["circuits"])
    read = load_atlas(tmp_path / "atlas.json")
    assert to_bytes(read) == to_bytes(atlas)
    assert list(read.circuits or ()) == ["number.en-de"] and not read.inputs("circuits"), "the pairs are the program's"
    assert list(read.sources["circuits"].data.values()) == [("number.en-de.tsv", sha256(FOLDER / "number.en-de.tsv"))]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda v: v["scores"]["value"].pop(), "circuit of number.en-de: shape"),
        (lambda v: v["null_limits"].append(1), "circuit of number.en-de: shape"),
        (lambda v: v["curve"]["kept"].pop(), "circuit of number.en-de: shape"),
        (lambda v: v["curve"].update(random=0.5), "circuit of number.en-de: shape"),
        (lambda v: v["curve"]["edges"].append(-1), "Expected `int` >= 0"),
        (lambda v: v["edges"].append([29, 0, 1.0]), "an edge of no node"),
        (lambda v: v["edges"].append([0, 77, 1.0]), "an edge of no node"),
        (lambda v: v.update(right="many"), "Expected `float`"),
    ],
)  # fmt: skip
def test_a_damaged_circuit_is_refused(tmp_path: Path, change: object, reason: str) -> None:
    wiring = Wiring(2, 4)
    assert (len(wiring.senders), len(wiring.receivers)) == (29, 77)
    value = json.loads(to_bytes(drawn_atlas()))
    change(value["circuits"]["number.en-de"])  # type: ignore[operator]
    (tmp_path / "atlas.json").write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(CheckpointError, match=reason):
        load_atlas(tmp_path / "atlas.json")
