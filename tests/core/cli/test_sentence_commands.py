"""The commands on one sentence: the file has the numbers of the function behind the command, and their provenance."""

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
from transformer_core.analysis import patching as patching_module
from transformer_core.analysis.attribution import METHODS, STEPS, Attribution, Contrast, Method, attribute
from transformer_core.analysis.effects import cumulative_ablation as ablation
from transformer_core.analysis.effects import head_effects as effects
from transformer_core.analysis.effects import head_paths
from transformer_core.analysis.effects.direct_effects import direct_effects
from transformer_core.analysis.lens import decoder_lens, logit_lens
from transformer_core.attention_maps import KINDS, AttentionMaps
from transformer_core.cli.sentence import attribute as attribute_command
from transformer_core.cli.sentence import cumulative_ablation, patch
from transformer_core.cli.sentence import effects as effects_command
from transformer_core.data import read_pairs
from transformer_core.translator import Translator

SOURCE, TARGET = "The man sees a house.", "Der Mann sieht ein Haus."
CORRUPTED = "The man sees a horse."
ANSWERS = (TARGET, "Der Mann sieht eine Tasse.")
SPREADS = {f"{kind}_spread" for kind in KINDS}

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
    found = translator.translate(SOURCE)
    return attention(found.attention, found.scores)


def forced(translator: Translator, made: Workplace) -> Arrays:
    found = translator.teacher_force(SOURCE, TARGET)
    return attention(found.attention, found.scores)


def head_effects(target: str | None = None, **options: Any) -> Callable[[Translator, Workplace], Arrays]:
    def measure(translator: Translator, made: Workplace) -> Arrays:
        others = list(read_pairs(made.valid)) if options.get("change") in ("mean", "resample") else []
        found = effects.head_effects(translator, SOURCE, target, others=others, **options)
        spreads = {f"{kind}_spread": draws.std(dim=0) for kind, draws in (found.draws or {}).items()}
        own = {str(kind): values for kind, values in found.effects.items()}
        return {**own, **spreads, "tokens": found.run.tokens, "log_p": found.run.log_p}

    return measure


def ablated(translator: Translator, made: Workplace) -> Arrays:
    found = ablation.cumulative_ablation(translator, SOURCE, TARGET, order="gradient", random_orders=1)
    return {
        "heads": [f"{kind}.{layer}.{head}" for kind, layer, head in found.heads],
        "log_p": found.log_p,
        "random": found.random,
        "counts": [count for count, _ in found.texts],
        "texts": [text for _, text in found.texts],
    }


def lenses(translator: Translator, made: Workplace) -> Arrays:
    found = logit_lens(translator, SOURCE, TARGET)
    numbers = {name: getattr(found, name) for name in ("log_p", "rank", "entropy", "top_log_p")}
    top = [[translator.tokenizer.tokens(row) for row in layer] for layer in found.top.tolist()]
    texts = [each.text for each in decoder_lens(translator, SOURCE)]
    return {**numbers, "top": top, "texts": texts, "tokens": found.run.tokens}


def patched(translator: Translator, made: Workplace) -> Arrays:
    found = patching_module.patching(translator, SOURCE, CORRUPTED, answers=ANSWERS, direction="noise")
    names = ("recovered", "metrics", "metric_clean", "metric_corrupted", "answers", "prefix", "source")
    return {name: getattr(found, name) for name in names}


def edges(translator: Translator, made: Workplace) -> Arrays:
    pair = minimal_pairs.read_pair(translator, SOURCE, CORRUPTED, answers=ANSWERS, direction="noise")
    graph = head_paths.attribution_patching(translator, pair).graph(0.02 * abs(pair.metrics[0] - pair.metrics[1]))
    exact = list(head_paths.path_patching(translator, pair, list(graph)[:3]).values())
    assert len(graph) > len(exact)
    names = dict(zip(("sender", "receiver", "input"), zip(*(edge.names for edge in graph), strict=True), strict=True))
    numbers = {"estimate": list(graph.values()), "exact": exact + [np.nan] * (len(graph) - len(exact))}
    kept = ("metric_clean", "metric_corrupted", "answers", "prefix")
    return {**names, **numbers, **{name: values for name, values in patched(translator, made).items() if name in kept}}


def direct(translator: Translator, made: Workplace) -> Arrays:
    found = direct_effects(translator, SOURCE, TARGET, position=1, tokens=first_ids(translator))
    assert set(found.parts) == {"embedding", "positional_encoding", "decoder", "cross", "feed_forward", "biases"}
    return {
        **found.parts, "logit": found.logit, "tokens": found.run.tokens, "source_tokens": found.run.source_tokens
    }  # fmt: skip


def attributed(found: Attribution) -> Arrays:
    run = found.run
    tokens = {"tokens": run.tokens, "source_tokens": run.source_tokens, "log_p": run.log_p}
    return {"source": found.source, "target": found.target, **tokens, **found.report}


def first_ids(translator: Translator) -> list[int]:
    return [translator.tokenizer.encode(text).ids[0] for text in ("Mann", "Frau")]


def by_method(method: Method) -> Callable[[Translator, Workplace], Arrays]:
    return lambda translator, made: attributed(attribute(translator, SOURCE, method=method, steps=4))


def contrast(translator: Translator, made: Workplace) -> Arrays:
    ids = first_ids(translator)
    return attributed(attribute(translator, SOURCE, TARGET, method="grad-x-input", contrast=Contrast(1, *ids)))


def one_head(translator: Translator, made: Workplace) -> Arrays:
    """With the weights of the maps in the place of those of the method."""
    found = attributed(attribute(translator, SOURCE, TARGET, method="attention", layer=1, head=3))
    return {**found, "source": translator.teacher_force(SOURCE, TARGET).attention.cross[1, 3]}


@dataclass(frozen=True)
class Case:
    """Arguments of a command; the arrays and some of the facts that its file has; a word of its table."""

    arguments: str
    arrays: Callable[[Translator, Workplace], Arrays]
    facts: dict[str, Any] = field(default_factory=dict)
    told: str = ""
    sentence: tuple[str, ...] = ("--source", SOURCE)


READ = ("--source", SOURCE, "--target", TARGET)
PAIR = ("--clean", SOURCE, "--corrupted", CORRUPTED, "--answers", *ANSWERS)
CASES = [
    Case("attention", translated, {"target_given": False, "beam": 4, "alpha": 0.6, "finished": True}),
    Case("attention", forced, {"target_given": True, "target": TARGET}, sentence=READ),
    Case("effects", head_effects(), {"change": "zero", "others": 0}, told="Effect in nats, cross"),
    Case("effects --change mean --sentences {valid}", head_effects(change="mean"), {"others": 9}),
    Case("effects --change resample --sentences {valid}", head_effects(change="resample"), {"others": 9}),
    Case("effects --change random --seed 3", head_effects(change="random", seed=3), {"seed": 3}),
    Case("effects --frozen-norm", head_effects(TARGET, frozen_norm=True), {"frozen_norm": True}, sentence=READ),
    Case(
        "cumulative-ablation --order gradient --random-orders 1", ablated, {"order": "gradient"}, sentence=READ,
        told="heads off",
    ),
    Case("lens", lenses, {"target": TARGET}, told="Translation from each layer of the encoder", sentence=READ),
    Case("patch --direction noise", patched, {"direction": "noise", "answers_given": True}, "layer.head", PAIR),
    Case(
        "patch --site edges --direction noise --least 0.02 --exact 3", edges, {"site": "edges", "exact": 3}, "receiver",
        PAIR,
    ),
    Case("effects --direct 2 --tokens {a} {b}", direct, {"position": 1}, "Nats, cross", READ),
    Case("attribute --method grad-x-input --at 2 --tokens {a} {b}", contrast, sentence=READ, told=", not ▁"),
    Case(
        "attribute --method attention --layer 2 --head 4", one_head, {"layer": 1, "head": 3}, sentence=READ,
    ),
    *(
        Case(
            f"attribute --method {method} --steps 4",
            by_method(method),
            {"method": method, "contrast": None},
            told="named first",
        )
        for method in METHODS
    ),
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
    said = call(*arguments, "--out", out)
    assert said.status == 0, said.err
    expected = {
        name: np.array(values.numpy() if isinstance(values, torch.Tensor) else values)
        for name, values in case.arrays(translator, made).items()
    }
    with np.load(out, allow_pickle=False) as file:
        found = dict(file)
    provenance = json.loads(str(found.pop("provenance")))
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(found[name], values, atol=1e-4, err_msg=name)
        else:
            assert found[name].tolist() == values.tolist(), name
    assert provenance["checkpoint_hash"] == translator.checkpoint_hash and provenance["program"] == "Headlight"
    assert case.facts.items() <= provenance.items()
    assert case.told in said.out
    assert "add --force" in one_line_error(call(*arguments, "--out", out))


def test_weights_are_exact(made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "maps.npz"
    assert call("attention", "--checkpoint", made.checkpoint, "--source", "A house 😀", "--out", out).status == 0
    expected = Translator.load(made.checkpoint).translate("A house 😀")
    with np.load(out, allow_pickle=False) as stored:
        for kind in KINDS:
            assert stored[kind].dtype == np.float32
            np.testing.assert_array_equal(stored[kind], getattr(expected.attention, kind))
        assert stored["scores"].tolist() == list(expected.scores)
    assert call("attention", "--checkpoint", made.checkpoint, *READ, "--out", out, "--force").status == 0
    assert list(tmp_path.iterdir()) == [out]


def test_the_table_of_words_names_the_largest_share(made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "found.npz"
    arguments = ["attribute", "--checkpoint", made.checkpoint, "--source", SOURCE, "--method", "gradient", "--out", out]
    lines = call(*arguments).out.splitlines()
    axis = attribute(Translator.load(made.checkpoint), SOURCE, method="gradient").source_axis
    source, words = np.load(out)["source"], np.array(axis.words)
    assert len(lines) == 4 + len(source)
    for row, line in zip(source, lines[4:], strict=True):
        sizes = [abs(float(row[words == word].sum())) for word in range(words[-1])]  # </s> is the last
        first = int(np.argmax(sizes))
        assert f" {axis.word_texts[first]} " in line and f" {100 * sizes[first] / sum(sizes):.0f} %" in line


def test_the_table_of_cells_begins_with_the_largest(made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "found.npz"
    first = call("patch", "--checkpoint", made.checkpoint, *PAIR, "--out", out).out.splitlines()[4].split()
    recovered = np.load(out)["recovered"]
    kind, layer, head = np.unravel_index(recovered.argmax(), recovered.shape)
    assert first[:2] == [["encoder", "decoder", "encoder-decoder"][kind], f"{layer + 1}.{head + 1}"]


def test_the_graph_of_edges_is_a_table_or_for_graphviz(made: Workplace, call: Call, tmp_path: Path) -> None:
    arguments = ["patch", "--checkpoint", made.checkpoint, *PAIR, "--site", "edges", "--least", "0.02", "--force"]
    for ending in ("csv", "dot"):
        graph, out = tmp_path / f"graph.{ending}", tmp_path / f"{ending}.npz"
        assert call(*arguments, "--out", out, "--graph", graph).status == 0
        found, text = np.load(out), graph.read_text(encoding="utf-8")
        edges = list(zip(found["sender"], found["receiver"], found["input"], found["estimate"], strict=True))
        assert edges
        if ending == "csv":
            header, *rows = csv.reader(text.splitlines())
            assert header == ["sender", "receiver", "input", "estimate", "exact"] and len(rows) == len(edges)
            for row, (*names, estimate) in zip(rows, edges, strict=True):
                assert row[:3] == names and float(row[3]) == pytest.approx(estimate, abs=1e-4)
        else:
            for sender, receiver, read, estimate in edges:
                assert f'"{sender}" -> "{receiver}" [label="{read} {estimate:+.2f}"]' in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("patch", *PAIR, "--graph", "{folder}/a.csv"), "--graph needs --site edges"),
        (("patch", *PAIR, "--site", "edges", "--graph", "{folder}/a.svg"), "must end with .csv or .dot"),
        (("patch", *PAIR, "--site", "edges", "--graph", "{folder}/here.csv"), "add --force"),
        (("patch", *PAIR, "--site", "edges", "--least", "0"), "--least is 0, but must be above 0"),
        (("patch", *PAIR, "--site", "edges", "--exact", "1001"), "--exact"),
        (("effects", *READ, "--tokens", "Mann"), "--tokens needs --direct"),
        (("effects", *READ, "--direct", "2", "--frozen-norm"), "--direct cannot be combined"),
        (("effects", *READ, "--direct", "0"), "--direct is 0, but must be from 1 to"),
        (("effects", *READ, "--direct", "1", "--tokens", "The", "man", "sees"), "one token or two"),
    ],
)
def test_options_that_do_not_fit(
    made: Workplace, call: Call, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "here.csv").touch()
    given = [argument.format(folder=tmp_path) for argument in arguments]
    said = call(*given, "--checkpoint", made.checkpoint, "--out", tmp_path / "found.npz")
    assert said.status == 2 and message in one_line_error(said)


def test_what_can_be_chosen_is_what_there_is(call: Call) -> None:
    assert (*patching_module.SITES, "edges") == patch.SITES and patch.DIRECTIONS == patching_module.DIRECTIONS
    assert cumulative_ablation.ORDERS == ablation.ORDERS
    assert effects_command.CHANGES == effects.CHANGES
    assert all(method in call("attribute", "--help").out for method in METHODS)
    assert attribute_command.STEPS == STEPS
