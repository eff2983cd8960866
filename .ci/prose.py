"""Find private English in the docstrings of the shipped code: `python .ci/prose.py`.

A docstring begins with an imperative verb or with the thing itself. Exit status 1 and one line for each that does not.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("transformer_core", "viz_app", "benchmarks")
FIRST_LINE = re.compile(
    r"^(what|who|whom|whose|where|when|how|why|which|those|that|as of|as for|as in|the same|of the|from the|for the)\b",
    re.IGNORECASE,
)
ANYWHERE = re.compile(
    r"\b(those of|whoever|whomever|somebody|nobody|as of every|in its turn|lastingly|so many|so often|none of whose"
    r"|is told|are told|for nobody|at all alike)\b",
    re.IGNORECASE,
)


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line number and text of every docstring of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=True)
            if text:
                yield getattr(node, "lineno", 1), text


def main() -> int:
    """Print every finding and return the exit status."""
    found = 0
    for path in sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")):
        for line, text in docstrings(path):
            odd = FIRST_LINE.match(text) or ANYWHERE.search(text)
            if odd:
                found += 1
                sys.stdout.write(f"{path.relative_to(ROOT)}:{line}: {odd[0]!r} in {text.splitlines()[0]!r}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
