"""What the shipped code imports is declared, in pyproject.toml and in requirements.txt."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("transformer_core", "viz_app")


def name_of(requirement: str) -> str:
    """The normalised name of a requirement such as `jsonargparse[signatures]>=4.40`."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def imported() -> dict[str, str]:
    """Each top-level module from elsewhere that shipped code imports, with a file that does."""
    found: dict[str, str] = {}
    for path in (path for package in SHIPPED for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            found |= {name.split(".")[0]: str(path.relative_to(ROOT)) for name in names}
    return {name: file for name, file in found.items() if name not in sys.stdlib_module_names and name not in SHIPPED}


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = {name_of(each) for each in project["dependencies"]}
    packages |= {name_of(each) for extra in project["optional-dependencies"].values() for each in extra}
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = {name_of(line) for line in lines if line and not line.startswith("#")}
    distributions = packages_distributions()
    modules = imported()
    assert {"torch", "PIL"} <= set(modules)
    for module, file in modules.items():
        names = {name_of(each) for each in distributions.get(module, [module])}
        assert names & packages, f"{file} imports {module}, which pyproject.toml does not declare"
        assert names & pinned, f"{file} imports {module}, which requirements.txt does not declare"
