"""Words of the explorer's files: the browser escapes a table and a shell's words as Python does."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Callable
from typing import Any

from tests.hostile import STRINGS
from transformer_core.storage.csv_table import escape_formula

FILES = "./components/explorer/js/figurefiles.js"
LABELS = [
    *STRINGS,
    "=1+1",
    "  +x",
    "\u200b@a",
    "\uff1dA1",
    "'quoted",
    'a "b", c',
    "\tx",
    "a-b",
    "a;=b",
    "a;b\r\n",
    '\t;"@c',
    ";'d",
    "-",
    "",
    "안녕",
    "it's",
]


def test_a_cell_is_escaped_as_in_the_tables_of_python(javascript: Callable[[str], Any]) -> None:
    script = f"""import {{ csvCell }} from "./components/common/text/csv.js";
        console.log(JSON.stringify({json.dumps(LABELS)}.map((label) => [csvCell(label), 0.25].join())));"""
    for label, line in zip(LABELS, javascript(script), strict=True):
        assert next(csv.reader(io.StringIO(line, newline=""))) == [escape_formula(label), "0.25"]


def test_a_word_is_one_word_of_a_shell(javascript: Callable[[str], Any]) -> None:
    script = f"""import {{ shellWord }} from "{FILES}";
        console.log(JSON.stringify({json.dumps(LABELS)}.map(shellWord)));"""
    for label, word in zip(LABELS, javascript(script), strict=True):
        plain = "".join(" " if ord(letter) < 32 or 127 <= ord(letter) < 160 else letter for letter in label)
        assert shlex.split(word) == [plain]
