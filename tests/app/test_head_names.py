"""The public face names heads and layers: no parameter takes a number for one, and tables write names."""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import transformer_core
from transformer_core import cli as transformer_core_cli
from transformer_core.attention_maps import KINDS
from transformer_core.cli.argument_types import UsageError
from transformer_core.head import Head, Layer, head_named, place_named
from viz_app import cli as viz_app_cli
from viz_app.export.figure_arguments import view_from_options

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
LAYERS, HEADS = 2, 4  # of `random_checkpoint`
_NUMBERED = {"layer", "layers", "head", "heads", "other_layer", "other_head"}


def documented() -> dict[str, Callable[..., Any]]:
    """Functions and classes that the code of a page imports, and those that `transformer_core` exports."""
    values = {name: getattr(transformer_core, name) for name in transformer_core._MODULE_OF}
    for page in PAGES:
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
            for node in ast.walk(ast.parse(block)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("transformer_core", "viz_app")):
                    module = importlib.import_module(node.module or "")
                    values |= {f"{node.module}.{each.name}": getattr(module, each.name) for each in node.names}
    return {name: value for name, value in values.items() if callable(value)}


def parameters(function: Callable[..., Any]) -> dict[str, str]:
    """Names and annotations of the parameters of a function, or of a class and its methods."""
    if not inspect.isclass(function):
        return {name: str(each.annotation) for name, each in inspect.signature(function).parameters.items()}
    if issubclass(function, (Head, Layer)):  # the value that has the name, with its place in arrays
        return {}
    methods = [each for name, each in vars(function).items() if inspect.isfunction(each) and not name.startswith("_")]
    result = {} if issubclass(function, BaseException) else parameters_of(function)
    return result | {name: kind for each in methods for name, kind in parameters(each).items()}


def parameters_of(function: type) -> dict[str, str]:
    try:
        return {name: str(each.annotation) for name, each in inspect.signature(function).parameters.items()}
    except ValueError:
        return {}


def test_no_documented_function_takes_a_number_for_a_head() -> None:
    faces = documented()
    assert {"capture", "edit", "run"} <= set(faces) and len(faces) > 40
    wrong = {
        f"{name}({parameter}: {kind})"
        for name, function in faces.items()
        for parameter, kind in parameters(function).items()
        if parameter in _NUMBERED and re.search(r"\bint\b", kind)
    }
    assert not wrong


def test_no_page_counts_heads_from_0() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert not re.search(r"코드에서는 0부터|\b(layer|head)s?\b[^.|]{0,40}\bcounts? from 0|\b(layer|head)=\d", text)
    for name in re.findall(r"\b(?:encoder|decoder|cross)\.\d+\.\d+\b", text):
        head_named(name)


def test_a_name_and_its_place() -> None:
    for name, place in (("cross.6.8", Head("cross", 5, 7)), ("encoder.12", Layer("encoder", 11))):
        assert place_named(name) == place and str(place) == name
    for wrong in (
        "cross",
        "cross.0.1",
        "cross.1.0",
        "cross.01.1",
        "cross.1.1.1",
        "self.1.1",
        "cross.1.1\n",
        "cross.١.1",
    ):
        with pytest.raises(ValueError, match=r"such as cross\.6\.8"):
            place_named(wrong)
    with pytest.raises(ValueError, match=r"no head cross\.3\.1: the model has 2 layers of 4 heads"):
        head_named("cross.3.1", 2, 4)


def test_no_command_takes_a_number_for_a_head_but_beside_its_kind() -> None:
    options = {
        f"{program.prog} {name} --{action.dest}": ({each.dest for each in parser._actions}, action)
        for program in (transformer_core_cli.PROGRAM, viz_app_cli.PROGRAM)
        for name in program.commands
        for parser in (program.parser(name),)
        for action in parser._actions
        if re.fullmatch(r"(other_)?(layer|head)s?", action.dest)
    }
    assert {"python -m viz_app export --head", "python -m transformer_core analyse attribute --head"} <= set(options)
    numbered = set()
    for flag, (others, action) in options.items():
        if action.type not in (None, str) and not action.dest.endswith("s"):
            assert callable(action.type) and action.type("cross.6.8") == "cross.6.8" and "kind" in others, flag
            numbered.add(action.dest)
    assert numbered == {"layer", "head", "other_layer", "other_head"}


def test_a_number_beside_its_kind_counts_from_1(random_checkpoint: Path) -> None:
    parser = viz_app_cli.PROGRAM.parser("export")
    view = [f"--checkpoint={random_checkpoint}", "--text=t", "--out=o.svg", "--view=head"]
    by_number = view_from_options(parser.parse_args([*view, "--kind=encoder", "--layer=6", "--head=8"]))
    assert by_number == view_from_options(parser.parse_args([*view, "--head=encoder.6.8"]))
    assert (by_number.layer, by_number.head) == (5, 7)
    with pytest.raises(UsageError, match="--head"):
        view_from_options(parser.parse_args([*view, "--kind=encoder", "--layer=6", "--head=0"]))


SENTENCE = ["--source", "The dog.", "--target", "Der Hund."]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("effects", SENTENCE),
        ("cumulative-ablation", SENTENCE),
        ("patch", ["--clean", "The dog.", "--corrupted", "The cat.", "--answers", "Der Hund.", "Die Hund."]),
    ],
)
def test_a_written_table_names_heads(command: str, options: list[str], random_checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    call = ["analyse", command, "--checkpoint", str(random_checkpoint), *options, "--out", str(out)]
    assert transformer_core_cli.main(call) == 0
    with out.open(encoding="utf-8-sig", newline="") as file:
        names = [row["head"] for row in csv.DictReader(file) if row["head"]]
    assert {head_named(name, LAYERS, HEADS).kind for name in names} == set(KINDS)
    assert len(names) == len(set(names)) > LAYERS * HEADS
