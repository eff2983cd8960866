"""requirements.txt pins what pyproject.toml declares, so that it serves both `-r` and `-c`.

That the declarations are what the code imports is deptry's to say, in .ci/run.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]


def parsed(lines: list[str]) -> dict[str, Requirement]:
    return {canonicalize_name(each.name): each for each in map(Requirement, lines)}


@pytest.mark.parametrize("extra", ["cluster", "docs", "export", "frames"])
def test_the_tests_have_what_the_other_extras_need(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = parsed(project["optional-dependencies"][extra])
    lines = [line for name in ("", "-dev") for line in (ROOT / f"requirements{name}.txt").read_text().splitlines()]
    pinned = parsed([line for line in lines if line and line[0] not in "#-"])
    for name, requirement in declared.items():
        (specifier,) = pinned[name].specifier
        assert specifier.version in requirement.specifier and pinned[name].extras == requirement.extras, name


def test_every_declared_requirement_is_pinned_within_its_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = ("app", "atlas", "cli", "convert", "parsing")
    lines = [line for extra in extras for line in project["optional-dependencies"][extra]]
    declared = parsed([*project["dependencies"], *lines])
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = parsed([line for line in lines if line and not line.startswith("#")])
    wanted = set(declared)
    for name, requirement in declared.items():
        for extra in requirement.extras:  # what an extra brings is pinned by name
            brought = map(Requirement, requires(name) or [])
            wanted |= {
                canonicalize_name(each.name)
                for each in brought
                if each.marker and each.marker.evaluate({"extra": extra}) and not each.marker.evaluate({"extra": ""})
            } - {name}
    assert set(pinned) == wanted
    for name, pin in pinned.items():
        assert not pin.extras, f"{name}: pip refuses constraints with extras"
        (specifier,) = pin.specifier
        assert specifier.operator == "==", name
        assert name not in declared or specifier.version in declared[name].specifier, name
