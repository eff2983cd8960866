"""Count the lines of code: Python, JavaScript and type files, without blanks, comments and docstrings.

    python -m benchmarks.code_size [--depth 2]

Product code is `transformer_core` and `viz_app`; code of others (`vendor`, `third_party`) is left out. Only files that
git knows count. A table by room follows, with folders of --depth levels, then one line of JSON.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"transformer_core": "product", "viz_app": "product", "benchmarks": "benchmarks", "tests": "tests"}
SUFFIXES = (".py", ".js", ".mjs", ".d.ts")
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def python_lines(text: str) -> int:
    """Count the lines with a token that is neither a comment nor part of a docstring."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                documented.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def javascript_lines(text: str) -> int:
    """Count the lines that are neither blank nor a comment."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.DOTALL)
    return sum(bool(line.strip()) and not line.strip().startswith("//") for line in text.split("\n"))


def measure(depth: int) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Return the lines of code by room and by kind, and all lines by top folder."""
    rooms: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    raw: Counter[str] = Counter()
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        top = name.partition("/")[0]
        if top not in FOLDERS or not name.endswith(SUFFIXES) or "vendor" in name or "third_party" in name:
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        lines = python_lines(text) if name.endswith(".py") else javascript_lines(text)
        rooms["/".join(name.split("/")[:-1][:depth])] += lines
        kinds[FOLDERS[top]] += lines
        raw[top] += text.count("\n")
    return rooms, kinds, raw


def main() -> None:
    """Print a table, then one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depth", type=int, default=2, metavar="N", help="Levels of folders. (default: 2)")
    rooms, kinds, raw = measure(parser.parse_args().depth)
    for name, count in (*sorted(rooms.items()), *sorted(kinds.items())):
        sys.stdout.write(f"{count:>7,}  {name}\n")
    sys.stdout.write(json.dumps({"code": kinds, "lines": raw, "rooms": rooms}) + "\n")


if __name__ == "__main__":
    main()
