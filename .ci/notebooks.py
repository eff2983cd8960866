"""Run the notebooks of docs/notebooks and store their small outputs: python .ci/notebooks.py [NAME ...].

Pages are not stored, only the figure that stands for each: all notebooks together stay below 1 MB.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "notebooks"
MAX_OUTPUT = 100_000  # characters of one form of an output


def executed(path: Path) -> nbformat.NotebookNode:
    """Return a notebook with the outputs of a fresh kernel."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    ).execute()
    return notebook


def without_large_outputs(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Keep what readers of a file can see: a figure instead of the page or the table around it, no log, no times."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type != "code":
            continue
        cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
        cell.outputs = [part for each in cell.outputs for part in _parts(each)]
    return notebook


def _parts(output: nbformat.NotebookNode) -> Iterator[nbformat.NotebookNode]:
    """Yield the table and the figure of a result each by itself, since a viewer shows one form of an output."""
    data = output.get("data", {})
    for form in [form for form, value in data.items() if len(value) > MAX_OUTPUT or form.startswith("application/")]:
        del data[form]
    table = data.pop("text/html", "") if "image/svg+xml" in data else ""
    if table.startswith("<table>"):
        yield nbformat.v4.new_output("display_data", {"text/html": table.split("<img ")[0]})
    if data or output.output_type not in ("display_data", "execute_result"):
        yield output


def main(names: list[str]) -> int:
    """Run the named notebooks, or all."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        start = time.monotonic()
        notebook = without_large_outputs(executed(path))
        nbformat.write(notebook, path)
        sys.stdout.write(f"{path.name}: {time.monotonic() - start:.1f} s, {path.stat().st_size / 1e3:.0f} kB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
