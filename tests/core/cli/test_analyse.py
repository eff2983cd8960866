"""`analyse`: the file has the numbers of the function behind the command, their provenance and a table."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.analysis import minimal_pairs
from transformer_core.analysis import patching as patches
from transformer_core.analysis.attribution import METHODS, Attribution, Contrast, Method, attribute
from transformer_core.analysis.circuit import MinimalPair, circuit
from transformer_core.analysis.effects import cumulative_ablation as ablation
from transformer_core.analysis.effects import head_effects as effects
from transformer_core.analysis.effects.direct_effects import direct_effects
from transformer_core.analysis.flow import Flow, flow
from transformer_core.analysis.lens import decoder_lens, logit_lens
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun
from transformer_core.attention_maps import KINDS, AttentionMaps
from transformer_core.cli.analyse import cumulative_ablation, patch
from transformer_core.cli.analyse import effects as effects_command
from transformer_core.data import read_pairs
from transformer_core.translator import Translator

SOURCE, TARGET = "The man sees a house.", "Der Mann sieht ein Haus."
CORRUPTED = "The man sees a horse."
ANSWERS = (TARGET, "Der Mann sieht eine Tasse.")

Arrays = dict[str, Any]


def attention(maps: AttentionMaps, scores: Sequence[float]) -> Arrays:
    axes = {"source": maps.source, "inputs": maps.inputs, "outputs": maps.outputs}
    words = {f"{name}_words": axis.words for name, axis in axes.items()}
    return {
        **{kind: getattr(maps, kind) for kind in KINDS},
        **{name: axis.tokens for name, axis in axes.items()},
        **words,
        "scores": scores,
    }


def translated(translator: Translator, made: Workplace) -> Arrays:
    translation = translator.translate(SOURCE)
    return attention(translation.attention, translation.scores)


def forced(translator: Translator, made: Workplace) -> Arrays:
    result = translator.teacher_force(SOURCE, TARGET)
    return attention(result.attention, result.scores)


def head_effects(target: str | None = None, **options: Any) -> Callable[[Translator, Workplace], Arrays]:
    def measure(translator: Translator, made: Workplace) -> Arrays:
        others = list(read_pairs(made.valid)) if options.get("change") in ("mean", "resample") else []
        result = effects.head_effects(translator, SOURCE, target, others=others, **options)
        spreads = {f"{kind}_spread": draws.std(dim=0) for kind, draws in (result.draws or {}).items()}
        own = {str(kind): values for kind, values in result.effects.items()}
        return {**own, **spreads, **of_run(result.run)}

    return measure


def ablated(translator: Translator, made: Workplace) -> Arrays:
    result = ablation.cumulative_ablation(translator, SOURCE, TARGET, order="gradient", random_orders=1)
    return {
        "heads": [f"{kind}.{layer + 1}.{head + 1}" for kind, layer, head in result.heads],
        "log_p": result.log_p,
        "random": result.random,
        "counts": [count for count, _ in result.texts],
        "texts": [text for _, text in result.texts],
    }


def of_run(run: TeacherForcedRun) -> Arrays:
    return {"tokens": run.tokens, "source_tokens": run.source_tokens, "log_p": run.log_p}


def lens(translator: Translator, made: Workplace) -> Arrays:
    result = logit_lens(translator, SOURCE, TARGET)
    numbers = {name: getattr(result, name) for name in ("log_p", "rank", "entropy", "top_log_p")}
    top = [[translator.tokenizer.tokens(row) for row in layer] for layer in result.top.tolist()]
    return {**of_run(result.run), **numbers, "top": top}


def early(translator: Translator, made: Workplace) -> Arrays:
    return {"texts": [each.text for each in decoder_lens(translator, SOURCE)]}


def patched(translator: Translator, made: Workplace) -> Arrays:
    result = patches.patching(translator, SOURCE, CORRUPTED, answers=ANSWERS, direction="noise")
    names = ("recovered", "metrics", "metric_clean", "metric_corrupted", "answers", "prefix", "source")
    return {name: getattr(result, name) for name in names}


def one_circuit(translator: Translator, made: Workplace) -> Arrays:
    result = circuit(translator, [MinimalPair(SOURCE, CORRUPTED, ANSWERS)], method="eap")
    curve = result.faithfulness()
    order = result.strongest(result.edges.shape[1]).tolist()
    senders, receivers = zip(*(result.edge_names[at] for at in order), strict=True)
    edges = {"sender": senders, "receiver": receivers, "edge_score": result.edges[0, order], "metrics": result.metrics}
    return {**result.columns(), **edges, "shares": curve.shares, "kept": curve.kept, "random": curve.random}


def of_flows(results: Sequence[Flow]) -> Arrays:
    names = ("source", "inputs", "biases", "logit")
    rows = {name: np.array([getattr(each, name) for each in results]) for name in names}
    edges = {str(kind): np.array([each.maps[kind] for each in results]) for kind in KINDS}
    return {**rows, **edges, **of_run(results[0].run)}


def every_flow(translator: Translator, made: Workplace) -> Arrays:
    return of_flows(flow(translator, (SOURCE, TARGET)))


def one_flow(translator: Translator, made: Workplace) -> Arrays:
    return of_flows([flow(translator, (SOURCE, TARGET), 1, against=first_ids(translator)[1])])


def flow_row(found: Arrays) -> list[Any]:
    """One token alone is compared with another."""
    return [1, found["tokens"][0]] if len(found["logit"]) > 1 else [2, f"{found['tokens'][1]},", "not"]


def direct(translator: Translator, made: Workplace) -> Arrays:
    result = direct_effects(translator, SOURCE, TARGET, position=1, tokens=first_ids(translator))
    assert set(result.parts) == {"embedding", "positional_encoding", "decoder", "cross", "feed_forward", "biases"}
    return {**result.parts, "logit": result.logit, **of_run(result.run)}


def attributed(result: Attribution) -> Arrays:
    return {"source": result.source, "target": result.target, **of_run(result.run), **result.report}


def first_ids(translator: Translator) -> list[int]:
    return [translator.tokenizer.encode(text).ids[0] for text in ("Mann", "Frau")]


def by_method(method: Method) -> Callable[[Translator, Workplace], Arrays]:
    return lambda translator, made: attributed(attribute(translator, SOURCE, method=method, steps=4))


def contrast(translator: Translator, made: Workplace) -> Arrays:
    ids = first_ids(translator)
    return attributed(attribute(translator, SOURCE, TARGET, method="grad-x-input", contrast=Contrast(1, *ids)))


def one_head(translator: Translator, made: Workplace) -> Arrays:
    """The weights of the maps stand in the place of the method's."""
    result = attributed(attribute(translator, SOURCE, TARGET, method="attention", at="cross.2.4"))
    return {**result, "source": translator.teacher_force(SOURCE, TARGET).attention.cross[1, 3]}


@dataclass(frozen=True)
class Case:
    """Arguments of a command; the arrays and some of the facts that its file has; a row that its table has."""

    arguments: str
    arrays: Callable[[Translator, Workplace], Arrays]
    facts: dict[str, Any] = field(default_factory=dict)
    row: Callable[[Arrays], Sequence[Any]] = lambda found: []
    sentence: tuple[str, ...] = ("--source", SOURCE)


def largest(*names: str, of: str = "", kinds: Sequence[str] = KINDS) -> Callable[[Arrays], Sequence[Any]]:
    """The head with the largest value, its address counted from 1, and the value; summed over the last axis."""

    def row(result: Arrays) -> Sequence[Any]:
        values = np.stack([result[kind].sum(axis=2) for kind in kinds]) if not of else result[of]
        place = np.unravel_index(np.nanargmax(np.abs(values)), values.shape)
        return [f"{kinds[int(place[0])]}.{place[1] + 1}.{place[2] + 1}", values[place]]

    return row


def token_row(result: Arrays) -> Sequence[Any]:
    return [result["tokens"][0], *(int(rank) for rank in result["rank"][:, 0])]


READ = ("--source", SOURCE, "--target", TARGET)
PAIR = ("--clean", SOURCE, "--corrupted", CORRUPTED, "--answers", *ANSWERS)
CASES = [
    Case("attention", translated, {"target_given": False, "beam": 4, "alpha": 0.6, "finished": True}),
    Case("attention", forced, {"target_given": True, "target": TARGET}, sentence=READ),
    Case("effects", head_effects(), {"change": "zero", "others": 0}, largest()),
    Case("effects --change mean --sentences {valid}", head_effects(change="mean"), {"others": 9}),
    Case("effects --change resample --sentences {valid}", head_effects(change="resample"), {"others": 9}),
    Case("effects --change random --seed 3", head_effects(change="random", seed=3), {"seed": 3}),
    Case("effects --frozen-norm", head_effects(TARGET, frozen_norm=True), {"frozen_norm": True}, sentence=READ),
    Case("direct --at 2 --tokens {a} {b}", direct, {"at": 2}, largest(kinds=("decoder", "cross")), READ),
    Case(
        "cumulative-ablation --order gradient --random-orders 1", ablated, {"order": "gradient"},
        lambda found: [found["counts"][1], found["heads"][found["counts"][1] - 1], found["log_p"][found["counts"][1]]],
        READ,
    ),
    Case("lens", lens, {"target": TARGET}, token_row, READ),
    Case("decoder-lens", early, {"source": SOURCE}, lambda found: ["encoder.1", *found["texts"][1].split()]),
    Case("patch --direction noise", patched, {"answers_given": True}, largest(of="recovered"), PAIR),
    Case(
        "circuit --method eap --curve", one_circuit, {"method": "eap", "edges": 50, "answers_given": True},
        lambda found: [found["node"][0], found["score"][0]], PAIR,
    ),
    Case("attribute --method grad-x-input --at 2 --tokens {a} {b}", contrast, {"at": 2}, sentence=READ),
    Case("attribute --method attention --head cross.2.4", one_head, {"head": "cross.2.4"}, sentence=READ),
    Case("attribute --method integrated-gradients --steps 4", by_method("integrated-gradients"), {"steps": 4}),
    Case("attribute --method leave-one-out", by_method("leave-one-out"), {"method": "leave-one-out"}),
    Case("flow", every_flow, {"target": TARGET}, flow_row, READ),
    Case("flow --at 2 --against {b}", one_flow, {"at": 2}, flow_row, READ),
    Case("attribute --method flow", by_method("flow"), {"method": "flow"}),
]  # fmt: skip


@pytest.fixture(autouse=True)
def any_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minimal_pairs, "MIN_DIFFERENCE", 0.0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.arguments)
def test_the_file_has_the_numbers_and_their_provenance(case: Case, made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "found.npz"
    translator = Translator.load(made.checkpoint)
    a, b = translator.tokenizer.tokens(first_ids(translator))  # with the mark of a word's beginning, and without
    words = case.arguments.format(valid=made.valid, a=a, b=b.removeprefix("▁")).split()
    arguments = [*words, "--checkpoint", made.checkpoint, *case.sentence]
    said = call("analyse", *arguments, "--out", out)
    assert said.status == 0, said.err
    expected = {
        name: np.array(values.numpy() if isinstance(values, torch.Tensor) else values)
        for name, values in case.arrays(translator, made).items()
    }
    with np.load(out, allow_pickle=False) as file:
        result = dict(file)
    provenance = json.loads(str(result.pop("provenance")))
    assert result.keys() == expected.keys()
    for name, values in expected.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(result[name], values, atol=1e-4, err_msg=name)
        else:
            assert result[name].tolist() == values.tolist(), name
    assert provenance["checkpoint_hash"] == translator.checkpoint_hash and provenance["program"] == "Headlight"
    assert case.facts.items() <= provenance.items()
    row = [f"{cell:.3f}" if isinstance(cell, np.floating) else str(cell) for cell in case.row(result) if cell != ""]
    assert row in [line.split()[: len(row)] for line in said.out.splitlines()], (row, said.out)
    assert "add --force" in one_line_error(call("analyse", *arguments, "--out", out))


@pytest.mark.parametrize("method", ["gradient", "alti"])
def test_word_table_names_the_largest_share(method: Method, made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    command = ("analyse", "attribute", "--checkpoint", made.checkpoint, "--source", SOURCE, "--method", method)
    assert call(*command, "--out", out).status == 0
    result = attribute(Translator.load(made.checkpoint), SOURCE, method=method)
    words, rows = np.array(result.source_axis.words), table(out)
    assert len(rows) == len(result.run.tokens)
    for source, row in zip(result.source.numpy(), rows, strict=True):
        sizes = [abs(float(source[words == word].sum())) for word in range(words[-1])]  # </s> is the last
        first = int(np.argmax(sizes))
        assert row["word"] == result.source_axis.word_texts[first]
        assert float(row["share"]) == pytest.approx(sizes[first] / sum(sizes), abs=1e-4)
        assert method == "gradient" or float(row["of_source"]) == pytest.approx(source.sum(), abs=1e-4)


def table(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines()))


def test_cells_of_layers_have_their_layer_and_position(made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    command = ("analyse", "patch", "--checkpoint", made.checkpoint, *PAIR, "--site", "residual")
    assert call(*command, "--out", out).status == 0
    result = patches.patching(Translator.load(made.checkpoint), SOURCE, CORRUPTED, answers=ANSWERS, site="residual")
    rows = {(row["layer"], int(row["position"])): float(row["recovered"]) for row in table(out)}
    assert len(rows) == result.recovered.isfinite().sum()
    assert rows["encoder.2", 3] == pytest.approx(float(result.recovered[0, 1, 2]), abs=1e-4)
    assert rows["decoder.1", 1] == pytest.approx(float(result.recovered[1, 0, 0]), abs=1e-4)


def test_the_graph_of_a_circuit_for_graphviz(made: Workplace, call: Call, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("# of one pair\n" + "\t".join([SOURCE, CORRUPTED, *ANSWERS]) + "\n", encoding="utf-8")
    arguments = ["analyse", "circuit", "--checkpoint", made.checkpoint, "--pairs", pairs, "--edges", 9]
    assert call(*arguments, "--out", tmp_path / "graph.dot").status == 0
    text = (tmp_path / "graph.dot").read_text(encoding="utf-8")
    graph = circuit(Translator.load(made.checkpoint), [MinimalPair(SOURCE, CORRUPTED, ANSWERS)]).graph(9)
    assert 0 < len(graph) == text.count("->")
    for (sender, receiver), score in graph.items():
        place, _, point = receiver.rpartition(".")
        node, label = (place, point) if point in ("queries", "keys", "values") else (receiver, point)
        assert f'"{sender}" -> "{node}" [label="{label} {score:+.2f}"]' in text


def test_the_table_of_a_flow_has_the_largest_part_of_a_word(made: Workplace, call: Call, tmp_path: Path) -> None:
    arguments = ["analyse", "flow", "--checkpoint", made.checkpoint, *READ]
    assert call(*arguments, "--out", tmp_path / "flow.csv").status == 0
    results = flow(Translator.load(made.checkpoint), (SOURCE, TARGET))
    attribution = attribute(Translator.load(made.checkpoint), SOURCE, TARGET, method="flow")
    words, inputs = np.array(attribution.source_axis.words), np.array(attribution.input_axis.words)
    rows = table(tmp_path / "flow.csv")
    assert len(rows) == len(results)
    for result, row in zip(results, rows, strict=True):
        parts = [float(result.source[words == word].sum()) for word in range(words[-1])]  # </s> is the last
        read = [float(result.inputs[inputs == word].sum()) for word in range(1, inputs[-1] + 1)]  # <s> is the first
        part, positive = max(parts), sum(value for value in (*parts, *read) if value > 0)
        assert row["word"] == attribution.source_axis.word_texts[parts.index(part)]
        assert float(row["part"]) == pytest.approx(part, abs=1e-3)
        assert float(row["share"]) == pytest.approx(max(part, 0) / positive if positive else 0.0, abs=1e-3)
        assert float(row["biases"]) == pytest.approx(result.biases, abs=1e-3)
        assert float(row["logit"]) == pytest.approx(result.logit, abs=1e-3)


def test_the_graph_of_a_flow(made: Workplace, call: Call, tmp_path: Path) -> None:
    arguments = ["analyse", "flow", "--checkpoint", made.checkpoint, *READ, "--at", "2", "--share", "0.5"]
    for ending in ("json", "dot"):
        assert call(*arguments, "--out", tmp_path / f"flow.{ending}").status == 0
    graph = flow(Translator.load(made.checkpoint), (SOURCE, TARGET), 1).graph(0.5)
    values = json.loads((tmp_path / "flow.json").read_text(encoding="utf-8"))
    assert [each["id"] for each in values["nodes"]] == [each["id"] for each in graph.to_dict()["nodes"]]
    assert len(values["edges"]) == (tmp_path / "flow.dot").read_text(encoding="utf-8").count(" -> ")


def test_what_can_be_chosen_is_what_there_is(call: Call) -> None:
    assert patches.SITES == patch.SITES and patch.DIRECTIONS == patches.DIRECTIONS
    assert cumulative_ablation.ORDERS == ablation.ORDERS
    assert effects_command.CHANGES == effects.CHANGES
    assert all(method in call("analyse", "attribute", "--help").out for method in METHODS)


def test_the_analyses_are_listed(call: Call) -> None:
    said = call("analyse", "--help")
    assert said.status == 0 and "analyse cumulative-ablation" in said.out
    assert call("analyse", "cumulative_ablation", "--help").out == call("analyse", "cumulative-ablation", "--help").out
    assert call("analyse").status == 2 and "the commands are analyse attention" in call("analyse", "bush").err
