"""requirements.txt pins what pyproject.toml declares, so that it serves both `-r` and `-c`; .ci/pin what that pulls in.

That the declarations are what the code imports is deptry's to say, in .ci/run.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]


def parsed(lines: list[str]) -> dict[str, Requirement]:
    return {canonicalize_name(each.name): each for each in map(Requirement, lines)}


def lines_of(*names: str) -> list[str]:
    """Requirements of files, without comments and options."""
    lines = [line for name in names for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line and line[0] not in "#- "]


def constraints() -> dict[str, Requirement]:
    """What constraints.txt pins on this system."""
    lines = lines_of("constraints.txt")
    return parsed([line for line in lines if (marker := Requirement(line).marker) is None or marker.evaluate()])


def pulled_in(requirement: Requirement, seen: set[tuple[str, str]]) -> set[str]:
    """Names of all that a requirement installs on this system, its own included."""
    names: set[str] = {canonicalize_name(requirement.name)}
    for extra in ("", *requirement.extras):
        if (requirement.name, extra) in seen:
            continue
        seen.add((requirement.name, extra))
        for each in map(Requirement, requires(requirement.name) or []):
            if each.marker is None or each.marker.evaluate({"extra": extra}):
                names |= pulled_in(each, seen)
    return names


def test_all_that_is_installed_is_pinned() -> None:
    pins, seen = constraints(), set[tuple[str, str]]()
    for requirement in map(Requirement, lines_of("requirements.txt", "requirements-dev.txt")):
        try:
            names = pulled_in(requirement, seen)
        except PackageNotFoundError as error:
            pytest.fail(f"python -m pip install -r requirements-dev.txt: {error.name} is missing")
        assert requirement.specifier == pins[canonicalize_name(requirement.name)].specifier
        for name in names:
            assert name in pins and version(name) in pins[name].specifier, f"{name}: .ci/pin, or install anew"


def test_every_pin_has_hashes() -> None:
    text = (ROOT / "hashes.txt").read_text(encoding="utf-8")
    entries = re.findall(r"^(\S.*?) \\\n((?: {4}--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE)
    assert [entry for entry, _ in entries] == lines_of("constraints.txt")
    assert len(re.findall("^[^# ]", text, re.MULTILINE)) == len(entries)


@pytest.mark.parametrize("extra", ["cluster", "docs", "export", "frames"])
def test_the_tests_have_what_the_other_extras_need(extra: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = parsed(project["optional-dependencies"][extra])
    pinned = parsed(lines_of("requirements.txt", "requirements-dev.txt"))
    for name, requirement in declared.items():
        (specifier,) = pinned[name].specifier
        assert specifier.version in requirement.specifier and pinned[name].extras == requirement.extras, name


def test_every_declared_requirement_is_pinned_within_its_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = ("app", "atlas", "cli", "convert", "parsing")
    lines = [line for extra in extras for line in project["optional-dependencies"][extra]]
    declared = parsed([*project["dependencies"], *lines])
    pinned = parsed(lines_of("requirements.txt"))
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
