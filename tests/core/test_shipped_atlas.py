"""Numbers of the shipped models in README, docs and cards are those that were measured of these weights."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.circuit_findings import tables
from transformer_core.analysis.circuit.wiring import Wiring
from transformer_core.atlas.controls import survivors
from transformer_core.atlas.naming import Role, head_roles
from transformer_core.atlas.record import Atlas, Curve, Estimate
from transformer_core.atlas.statistics import FALSE_DISCOVERIES
from transformer_core.atlas.storage import shipped_atlas
from transformer_core.attention_maps import KINDS
from transformer_core.storage.measurements import read_metrics

ROOT = Path(__file__).resolve().parents[2]
MODELS = ("en-de", "en-fr")


@pytest.fixture(scope="module")
def atlases() -> list[Atlas]:
    rows = [shipped_atlas(ROOT / "checkpoints" / name) for name in MODELS]
    return [atlas for atlas in rows if atlas is not None]


def _with_role(atlas: Atlas, wanted: Callable[[Role], bool] = lambda _: True) -> int:
    return sum(any(map(wanted, roles)) for roles in head_roles(atlas).values())


def _curve(atlas: Atlas, order: str) -> Curve | None:
    if atlas.prune is None:
        return None
    (result,) = [each for each in atlas.prune.curves if each.heads == "all" and each.order == order]
    return result


def _left(atlas: Atlas, order: str, kept: int) -> str:
    curve = _curve(atlas, order)
    if curve is None:
        return "not measured"
    score = curve.scores[curve.kept.index(kept)]
    return f"{score.bleu:.1f} ± {score.bleu_half:.1f}"


def _significant(atlas: Atlas) -> str:
    assert atlas.effects is not None
    return f"{sum(int((atlas.effects.q['mean'][kind] <= FALSE_DISCOVERIES).sum()) for kind in KINDS)}"


def _survive(atlas: Atlas) -> str:
    assert atlas.effects is not None
    result = survivors(atlas.effects, "mean")
    return f"{sum(int(heads.sum()) for heads in result.values())}" if result else "not measured"


def _change_bleu(atlas: Atlas) -> str:
    if atlas.decode is None:
        return "not measured"
    return f"{sum(int((atlas.decode.q[kind] <= FALSE_DISCOVERIES).sum()) for kind in KINDS)}"


def _agreement(atlas: Atlas) -> str:
    assert atlas.effects is not None
    result = atlas.effects.agreement["mean"]["all"]
    return f"{float(result.value):.2f} [{float(result.low):.2f}, {float(result.high):.2f}]"


def _least_error(atlas: Atlas, rows: str) -> str:
    assert atlas.align is not None
    return f"{atlas.align.rows[rows].error.value.min():.2f}"


ROWS: dict[str, Callable[[Atlas], str]] = {
    "heads with a role": lambda atlas: f"{_with_role(atlas)} of {3 * atlas.layers * atlas.heads}",
    "that align": lambda atlas: f"{_with_role(atlas, lambda role: role.name == 'aligner')}",
    "that look at separators or `</s>`": lambda atlas: (
        f"{_with_role(atlas, lambda role: role.name in ('separator', 'end', 'punctuation'))}"
    ),
    "that look at the same token": lambda atlas: f"{_with_role(atlas, lambda role: role.name == 'copy')}",
    "that follow a dependency relation": lambda atlas: f"{_with_role(atlas, lambda role: role.name == 'link')}",
    "best AER, generated token": lambda atlas: _least_error(atlas, "output"),
    "best AER, token read": lambda atlas: _least_error(atlas, "input"),
    "heads with an effect that differs from 0": _significant,
    "heads whose effect survives the control": _survive,
    "heads that change BLEU significantly": _change_bleu,
    "rank correlation of gradient and effect": _agreement,
    "BLEU of the whole model": lambda atlas: _left(atlas, "effect", 144),
    "BLEU without the 72 least important heads": lambda atlas: _left(atlas, "effect", 72),
    "BLEU without the 10 most important heads": lambda atlas: _left(atlas, "reverse", 134),
}


@pytest.mark.parametrize("label", ROWS)
def test_the_documentation_has_the_measured_numbers(label: str, atlases: list[Atlas]) -> None:
    page = (ROOT / "docs" / "atlas.md").read_text(encoding="utf-8").partition("## The shipped models")[2]
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {label} |")]
    assert [cell.strip() for cell in row.strip("|").split("|")][1:] == [ROWS[label](atlas) for atlas in atlases]


def test_the_syntactic_heads_of_the_parser_are_in_its_atlas() -> None:
    atlas = shipped_atlas(ROOT / "checkpoints" / "en-tree")
    assert atlas is not None and atlas.effects is not None
    values = {head: roles for head, roles in head_roles(atlas).items() if roles}
    links = {head: role for head, (role, *_) in values.items() if role.name == "link"}
    named = {("encoder", 2, 1): "case to_dependent", ("encoder", 3, 4): "discourse to_dependent"}
    assert {head: role.detail for head, role in links.items()} == named
    page = " ".join((ROOT / "docs" / "atlas.md").read_text(encoding="utf-8").split())
    said = [
        f"right for {role.value:.0%} of {role.places:,} words where the best offset has {role.baseline:.0%}"
        for role in links.values()
    ]
    said += [
        f"{len(values)} of its {3 * atlas.layers * atlas.heads} heads have a role; "
        f"the other {sum(roles[0].name.startswith('offset') for roles in values.values())} look at a fixed offset",
        f"{_survive(atlas)} survive the control ({atlas.effects.sentences} sentences",
    ]
    for each in said:
        assert each.replace("%", " %") in page


ORDERS = {"flow": "flow", "gradient x weight": "gradient", "attention weight": "attention", "at random": "random"}


@pytest.mark.parametrize("label", ORDERS)
def test_the_documentation_has_the_measured_worth_of_the_flow(label: str, atlases: list[Atlas]) -> None:
    page = (ROOT / "docs" / "interpretability.md").read_text(encoding="utf-8").partition("### What it is worth")[2]
    for name, atlas in zip(MODELS, atlases, strict=True):
        assert atlas.flow is not None
        rows = [line.strip("|").split("|")[1:] for line in page.splitlines() if line.startswith(f"| {label}, {name} |")]
        shown = [[cell.strip() for cell in row] for row in rows]
        assert shown == [_cells(each[ORDERS[label]]) for each in (atlas.flow.cut, atlas.flow.kept)]
    for estimates in zip(*map(_single_numbers, atlases), strict=True):
        first, second = (_cells(each)[0] for each in estimates)
        assert f"{first} and {second}" in " ".join(page.split())


def _single_numbers(atlas: Atlas) -> list[Estimate]:
    assert atlas.flow is not None
    return [atlas.flow.whole, atlas.flow.nothing, atlas.flow.with_effect, atlas.flow.heads_with_effect]


def _cells(estimate: Estimate) -> list[str]:
    """Numbers with their intervals, as the page has them."""
    numbers = zip(*(np.atleast_1d(each) for each in (estimate.value, estimate.low, estimate.high)), strict=True)
    return [f"{value:.2f} [{low:.2f}, {high:.2f}]" for value, low, high in numbers]


SHIPPED = {"en-de": "English to German", "en-fr": "English to French", "en-fr-small": "English to French, small"}
WIDE = ("en-de", "en-fr")
SETS = {
    "everyday sentences (tatoeba-test)": "tatoeba-test",
    "image captions (multi30k test 2016)": "multi30k-test_2016_flickr",
    "news (NTREX-128)": "ntrex128",
}
METHODS = {
    "flow": "flow",
    "leave-one-out": "leave-one-out",
    "integrated gradients": "integrated-gradients",
    "value norm": "norm",
    "ALTI+": "alti",
    "norm + LayerNorm": "norm-ln",
    "attention": "attention",
    "gradient": "gradient",
    "gradient × input": "grad-x-input",
    "rollout": "rollout",
}


def metrics(name: str) -> dict[str, Any]:
    return read_metrics(ROOT / "checkpoints" / name)


def text(*parts: str) -> str:
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


def cells(page: str, first: str) -> list[str]:
    """The cells of the row of a table that begins with a cell."""
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in row.strip("|").split("|")][1:]


def within(value: float, digits: int) -> Any:
    """A number that was rounded to some digits."""
    return pytest.approx(value, abs=0.51 * 10**-digits)


@pytest.mark.parametrize(("label", "name"), SETS.items())
def test_the_readme_has_the_measured_scores(label: str, name: str) -> None:
    assert cells(text("README.md"), label) == [f"{metrics(model)['scores'][name]['bleu']:.1f}" for model in SHIPPED]


@pytest.mark.parametrize(("name", "language"), SHIPPED.items())
def test_the_guide_tells_how_each_model_was_trained(name: str, language: str) -> None:
    training = metrics(name)["training"]
    (line,) = re.findall(rf"^\* {language}: (.*(?:\n  .*)*)", text("docs", "checkpoints.md"), re.MULTILINE)
    said = " ".join(line.split())
    assert f"{training['parameters'] / 1e6:.1f} million parameters" in said
    assert f"{training['steps']:,} steps" in said
    hours = training["hours"]
    took = f"{hours:.1f} hours" if hours >= 0.5 else f"{60 * hours:.0f} minutes"
    assert f"{training['target_tokens'] / 1e6:.1f} million target tokens in {took}" in said


@pytest.mark.parametrize(("label", "method"), METHODS.items())
def test_the_table_of_methods_is_what_was_measured(label: str, method: str) -> None:
    known = [metrics(model)["methods"] for model in WIDE]
    errors = [each["alignment"]["aer"].get(method) for each in known]
    taus = [each["agreement"]["tau"].get(method) for each in known]
    shown = cells(text("docs", "evaluation.md"), label)
    for cell, error in zip(shown[:2], errors, strict=True):
        assert cell == "not measured" if error is None else float(cell.removesuffix(" %")) == within(100 * error, 1)
    for cell, tau in zip(shown[2:], taus, strict=True):
        # Leave-one-out is what the others are compared with.
        assert cell in ("", "not measured") if tau is None else float(cell) == within(tau, 2)


def test_the_documentation_has_the_measured_circuits(atlases: list[Atlas]) -> None:
    page = (ROOT / "docs" / "circuits.md").read_text(encoding="utf-8")
    assert tables() in page
    names = Wiring(6, 8).senders
    measured = []
    for task, (language, atlas) in product(("number", "negation"), zip(MODELS, atlases, strict=True)):
        circuit = (atlas.circuits or {})[f"{task}.{language}"]
        head = max((node for node in circuit.carriers if "ffn" not in names[node]), key=circuit.scores.value.item)
        score, whole = circuit.scores.value[head], circuit.clean - circuit.corrupted
        measured.append((names[head], f"{score:.1f}", f"{whole:.1f}"))
    assert re.findall(r"(cross\.\d\.\d)\s+carries ([\d.]+) of ([\d.]+)", page) == measured
