"""Types that JavaScript gets, and the selection as both sides know it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Literal, TypedDict

import pytest

from transformer_core.attention_maps import KINDS
from viz_app.components.explorer.selection import CHOICES, Selection
from viz_app.components.types import label_types, lesson_names, number_types
from viz_app.figures.option import declared

ROOT = Path(__file__).parents[3]
TSC = ROOT / "node_modules" / ".bin" / "tsc"


class Cell(TypedDict):
    row: int
    place: tuple[str, float]


class Sent(TypedDict):
    cells: list[Cell]
    kinds: dict[Literal["encoder", "decoder"], float | None]
    name: str
    late: bool


def test_a_typed_dict_becomes_a_type() -> None:
    sent, cell = number_types([Sent]).splitlines()
    assert cell == "type Cell = { place: [string, number]; row: number };"
    kinds = 'Record<"decoder" | "encoder", number | null>'
    assert sent == f"type Sent = {{ cells: (Cell)[]; kinds: {kinds}; late: boolean; name: string }};"


RIGHT = [
    "explorer.kind_cross",
    "explorer[`kind_${kind}`]",
    "classroom.page_title",
    "lesson.play",
    "settings.budget",
    "arrays.tensors.shape",
    "sent.cells[0].place[1].toFixed(2)",
]
WRONG = [
    "explorer.kind_crosss",
    "explorer.own_help",  # of another component
    "classroom.page_titl",
    "lesson.plays",
    "settings.budgte",
    "arrays.tensor.shape",
    "sent.cells[0].column",
]


@pytest.mark.skipif(not TSC.exists(), reason="npm ci has not been run")
def test_a_wrong_key_is_an_error(tmp_path: Path) -> None:
    declared = f"""type Labels<Key extends string> = Record<Key, string> & Record<string, string>;
{label_types()}
{lesson_names()}
{number_types([Sent])}
declare const kind: string;
declare const [explorer, classroom, lesson]: [ExplorerTexts, ClassTexts, LessonTexts];
declare const settings: Partial<Record<SettingName, any>> & Record<string, any>;
declare const arrays: Record<ArrayName, {{ shape: number[] }}> & Record<string, {{ shape: number[] }}>;
declare const sent: Sent;
"""
    (tmp_path / "types.d.ts").write_text(declared, encoding="utf-8")
    (tmp_path / "script.js").write_text("\n".join([*RIGHT, *WRONG]), encoding="utf-8")
    flags = ["--noEmit", "--checkJs", "--strict", "--noPropertyAccessFromIndexSignature", "--target", "es2022"]
    command = [str(TSC), *flags, "types.d.ts", "script.js"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    lines = [int(number) for number in re.findall(r"^script\.js\((\d+),", run.stdout, re.MULTILINE)]
    assert lines == list(range(len(RIGHT) + 1, len(RIGHT) + len(WRONG) + 1)), run.stdout


def test_the_type_of_the_selection_has_its_fields_with_their_choices() -> None:
    choices = {"kind": KINDS, **CHOICES}
    (text,) = number_types([Selection]).splitlines()
    fields = dict(re.findall(r"(\w+): ([^;]+?)(?:;| })", text.removeprefix("type ExplorerSelection = { ")))
    assert list(fields) == [*declared(Selection)]
    assert {name: set(re.findall(r'"(\w+)"', fields[name])) for name in choices} == {
        name: set(each) for name, each in choices.items()
    }
    assert (fields["layer"], fields["step"], fields["card"], fields["pin"]) == (
        "number",
        "number | null",
        "boolean",
        "string | null",
    )
