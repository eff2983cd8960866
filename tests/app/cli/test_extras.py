"""Packages of optional dependencies: the core runs without them, and names them where they are needed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from transformer_core.atlas.effects import rank_correlation
from transformer_core.atlas.statistics import corrected, paired_test, sign_test
from transformer_core.atlas.trees import _token
from transformer_core.cli import PROGRAM, main
from transformer_core.conversion.language_codes import bcp47
from transformer_core.extras import MissingPackage
from transformer_core.parsing.words import split_words
from viz_app.cli import HEADLIGHT

ROOT = Path(__file__).resolve().parents[3]
NUMBERS = np.array([0.1, 0.2])
NEEDS: list[tuple[str, str, Callable[[], object]]] = [
    ("atlas", "scipy", lambda: rank_correlation(NUMBERS, NUMBERS)),
    ("atlas", "scipy", lambda: sign_test(NUMBERS)),
    ("atlas", "scipy", lambda: paired_test(NUMBERS)),
    ("atlas", "scipy", lambda: corrected(NUMBERS)),
    ("atlas", "conllu", lambda: _token("file", 1, "\t".join("1" * 10))),
    ("parsing", "nltk", lambda: split_words("It works.")),
    ("convert", "babel", lambda: bcp47("eng_Latn")),
    ("cli", "shtab", lambda: HEADLIGHT.parser("completion")),
]


@pytest.mark.parametrize(("name", "package", "use"), NEEDS)
def test_a_missing_package_is_named_with_its_extra(
    name: str, package: str, use: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [each for each in sys.modules if each.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.delitem(sys.modules, "viz_app.cli.completion", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=rf"^{package}.* is not installed: .* 'headlight\[{name}\]'$"):
        use()
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert any(line.startswith(package) for line in declared["optional-dependencies"][name])
    assert not any(line.startswith(package) for line in declared["dependencies"])


def test_commands_and_model_are_imported_without_them() -> None:
    packages = {package for _, package, _ in NEEDS}
    modules = ", ".join(PROGRAM.module(name).__name__ for name in PROGRAM.commands)
    code = f"import sys; sys.modules.update(dict.fromkeys({packages})); import transformer_core.translator, {modules}"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)


def test_a_command_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    monkeypatch.delitem(sys.modules, "viz_app.cli.completion", raising=False)
    assert main(["completion", "bash"], HEADLIGHT) == 1
    assert capsys.readouterr().err == "error: shtab is not installed: python -m pip install 'headlight[cli]'\n"
