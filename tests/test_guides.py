"""docs/architecture.md and CONTRIBUTING.md name files and functions that exist, where they say that they are."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
GUIDES = [ARCHITECTURE, ROOT / "CONTRIBUTING.md"]
_LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)\)")
_PATH = re.compile(r"`([\w.]+(?:/[\w.]+)*(?:/|\.\w+))`")
_NAME = re.compile(r"`([A-Za-z_]\w*)(?:\(\w*\))?`")


def paragraphs(guide: Path) -> list[str]:
    """Rows of tables, entries of lists and paragraphs, without blocks of code."""
    text = re.sub(r"```.*?```", "", guide.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [part for part in re.split(r"\n\n|\n(?=\|)|\n(?=\d+\. )|\n(?=\* )", text) if part.strip()]


def linked(guide: Path, text: str) -> list[Path]:
    return [guide.parent / link for link in _LINK.findall(text) if "://" not in link]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_every_file_and_folder_exists(guide: Path) -> None:
    links = linked(guide, guide.read_text(encoding="utf-8"))
    assert len(links) > 8
    assert [link for link in links if not link.exists()] == []
    for text in paragraphs(guide):
        folders = [ROOT, *(link if link.is_dir() else link.parent for link in linked(guide, text))]
        for path in _PATH.findall(text):
            rows = [folder for folder in folders if (folder / path).exists()]
            # A file that many folders have, such as lesson.toml, is named alone.
            assert rows or ("/" not in path.rstrip("/") and any((ROOT / "viz_app").rglob(path))), path


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_every_name_stands_in_a_file_beside_which_it_is_named(guide: Path) -> None:
    for text in paragraphs(guide):
        files = [link for link in linked(guide, text) if link.is_file()]
        if not files:
            continue
        sources = [file.read_text(encoding="utf-8", errors="replace") for file in files]
        for name in _NAME.findall(text):
            assert any(re.search(rf"\b{name}\b", source) for source in sources), (name, text)


def test_the_parts_are_those_of_the_import_contract_in_its_order() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = [contract["layers"] for contract in contracts if contract.get("containers") == ["viz_app"]]
    order = [name for layer in layers for name in layer.split(" | ")]
    table = ARCHITECTURE.read_text(encoding="utf-8").split("| part of viz_app |")[1].split("\n\n")[0]
    parts = [Path(link).stem for link in re.findall(r"\(\.\./viz_app/([^)]+)\)", table)]
    assert set(parts) == set(order) - {"__main__"}
    first = ("main", "page_script", "shell")  # one row
    assert [part for part in parts if part not in first] == [part for part in order if part not in (*first, "__main__")]


def test_the_drawing_names_files_that_exist() -> None:
    drawing = re.findall(r"```mermaid\n(.*?)```", ARCHITECTURE.read_text(encoding="utf-8"), re.DOTALL)[0]
    names = re.findall(r"[\w/]+(?:\.py|/(?=[<\"]))", drawing)
    assert len(names) > 10
    missing = [
        name
        for name in names
        if not any((ROOT / package / name).exists() for package in ("transformer_core", "viz_app"))
    ]
    assert missing == []


def test_enough_rows_say_where_to_go() -> None:
    table = ARCHITECTURE.read_text(encoding="utf-8").split("| to change | go to |")[1]
    assert len([row for row in table.splitlines() if row.startswith("| ") and "](" in row]) >= 25


def test_commands_of_the_guide_are_those_of_ci() -> None:
    """What only reads the code: the guide's line and CI's lines run the same tools."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (line,) = [line for line in guide.splitlines() if line.startswith("ruff check")]
    told = {" ".join(shlex.split(part)[:2]) for part in line.split(" && ")}
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert told >= {"ruff check", "ruff format", "mypy", "lint-imports", "deptry transformer_core"}
    for command in told:
        assert re.search(rf"^ *{re.escape(command.split()[0])}\b", ci, re.MULTILINE), command
