"""Find private English in the docstrings of the shipped code, and odd commit subjects: `python .ci/prose.py`.

A docstring begins with an imperative verb or with the thing itself. A commit has a scope and one subject. Exit status 1
and one line for each that does not.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("transformer_core", "viz_app", "benchmarks", "tests/core", "tests/abuse", "tests/app", "tests/benchmarks")
FIRST_LINE = re.compile(
    r"^(what|who|whom|whose|where|when|how|why|which|those|that|as of|as for|as in|the same|of the|from the|for the)\b",
    re.IGNORECASE,
)
ANYWHERE = re.compile(
    r"\b(those of|whoever|whomever|somebody|nobody|as of every|in its turn|lastingly|so many|so often|none of whose"
    r"|is told|are told|for nobody|at all alike)\b",
    re.IGNORECASE,
)
BEFORE_SCOPES = "5d9ea160d240560aec2d48a6dd8dcf0fac47caa7"  # the last commit whose subject needs no scope
SUBJECT = re.compile(r"[\w./ -]+(, [\w./ -]+)*: (?!.*; [\w./]+: ).+")


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line number and text of every docstring of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=True)
            if text:
                yield getattr(node, "lineno", 1), text


def subjects() -> list[str]:
    """Return the subjects of the commits that need a scope; none in a clone that lacks the one before them."""
    git = ["git", "-C", str(ROOT)]
    known = subprocess.run(
        [*git, "merge-base", "--is-ancestor", BEFORE_SCOPES, "HEAD"], capture_output=True, check=False
    )
    if known.returncode:
        return []
    log = [*git, "log", "--no-merges", "--format=%s", f"{BEFORE_SCOPES}..HEAD"]
    return subprocess.run(log, capture_output=True, encoding="utf-8", check=True).stdout.splitlines()


def main() -> int:
    """Print every finding and return the exit status."""
    findings = []
    for path in sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")):
        for line, text in docstrings(path):
            odd = FIRST_LINE.match(text) or ANYWHERE.search(text)
            if odd:
                findings.append(f"{path.relative_to(ROOT)}:{line}: {odd[0]!r} in {text.splitlines()[0]!r}")
    findings += [
        f"commit without a scope, or with two subjects: {each!r}" for each in subjects() if not SUBJECT.fullmatch(each)
    ]
    sys.stdout.writelines(f"{each}\n" for each in findings)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
