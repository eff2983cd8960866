"""The public names of the package."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import transformer_core


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


def test_the_package_alone_does_not_import_torch() -> None:
    code = "import sys, transformer_core; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_model_does_not_import_the_compiler() -> None:
    """It takes longer to load than all of the rest of torch."""
    code = "import sys, transformer_core.model.transformer; sys.exit('torch._dynamo' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
