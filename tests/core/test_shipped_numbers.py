"""The numbers of the shipped models in README, docs and cards are those that were measured of these weights."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from transformer_core.storage.measurements import read_metrics

ROOT = Path(__file__).resolve().parents[2]
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
def test_the_readme_tells_how_each_model_was_trained(name: str, language: str) -> None:
    training = metrics(name)["training"]
    (line,) = re.findall(rf"^\* {language}: (.*(?:\n  .*)*)", text("README.md"), re.MULTILINE)
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
