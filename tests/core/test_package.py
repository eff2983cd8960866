"""The public names of the package."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import transformer_core
from transformer_core.runs import Labelled, Run
from transformer_core.translator import Translator


def _typed_names() -> set[str]:
    """The names that a type checker sees, from the source."""
    tree = ast.parse(Path(transformer_core.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    return {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_every_public_name_can_be_imported() -> None:
    names = _typed_names()
    assert "Translator" in names
    for name in names:
        assert getattr(transformer_core, name).__name__ == name
    assert names <= set(dir(transformer_core))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        transformer_core.Nothing  # noqa: B018


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("transformer_core", "torch"),
        ("transformer_core.paper.flops", "torch"),
        ("transformer_core.model.transformer", "torch._dynamo"),  # takes longer to load than all of the rest of torch
    ],
)
def test_what_is_large_is_not_imported(module: str, absent: str) -> None:
    code = f"import sys, {module}; sys.exit({absent!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _public_functions() -> dict[str, object]:
    """Functions and classes that `transformer_core` exports, and public methods of what users hold."""
    values = {name: getattr(transformer_core, name) for name in _typed_names() if "Error" not in name}
    for kind in (Translator, Run, Labelled):
        for name, value in vars(kind).items():
            function = getattr(value, "__func__", value)  # of a class method
            if not name.startswith("_") and inspect.isfunction(function):
                values[f"{kind.__name__}.{name}"] = function
    return values


@pytest.mark.parametrize("name", sorted(_public_functions()))
def test_a_docstring_names_every_argument_and_says_when_it_raises(name: str) -> None:
    function = _public_functions()[name]
    text = inspect.getdoc(function) or ""
    assert text.partition("\n")[0].endswith((".", ":"))
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    given = [each.name for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    given = [each for each in given if each not in ("self", "cls") and not each.startswith("_")]
    if len(given) > 2 and "see `" not in text.lower():
        assert [each for each in given if not re.search(rf"\b{each}\b", text)] == []
    body = inspect.getsource(function).replace(text, "")  # type: ignore[arg-type]
    if inspect.isfunction(function) and re.search(r"\braise \w*Error", body):
        assert "Raises" in text


def test_the_hooks_page_has_every_default() -> None:
    page = (Path(__file__).parents[2] / "docs" / "hooks.md").read_text(encoding="utf-8")
    for name in ("run", "capture"):
        table = page.partition(f"| option of `{name}` | default |")[2].partition("\n\n")[0]
        told = dict(re.findall(r"^\| `(\w+)` \| `?([^`,|]+?)`?(?:,.*?)? \|", table, re.M))
        parameters = inspect.signature(getattr(transformer_core, name)).parameters
        defaults = {key: one.default for key, one in parameters.items() if one.default is not inspect.Parameter.empty}
        assert {key: ast.literal_eval(text) for key, text in told.items()} == defaults
    for name in ("load", "ablate_neurons", "patch", "knock_out", "force_edges", "inject", "only"):
        for key, each in inspect.signature(getattr(transformer_core, name)).parameters.items():
            if each.default is not inspect.Parameter.empty:
                assert f"`{key}`" in page or f"`{key}=`" in page, (name, key)
