"""Tasks: minimal pairs of one phenomenon, from a file."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from transformer_core.analysis.circuit.pairs import MinimalPair
from transformer_core.data.text import DataError, read_lines

FOLDER = Path(__file__).parent / "tasks"
MAX_PAIRS = 2_000
_MAX_CHARACTERS = 10_000  # of a line


def shipped_tasks() -> tuple[str, ...]:
    """Return the names of the tasks that ship, such as `number.en-de`."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.tsv")))


def read_task(name: str) -> list[MinimalPair]:
    """Return the pairs of a task that ships. Raises DataError if there is none of this name."""
    if name not in shipped_tasks():
        raise DataError(f"there is no task {name[:50]!r}; there are {', '.join(shipped_tasks())}")
    return read_pairs_file(FOLDER / f"{name}.tsv")


def read_pairs_file(path: Path) -> list[MinimalPair]:
    """Return the pairs of a table: clean and corrupted sentence, their translations or none, group or none.

    Lines that begin with # are comments. Raises DataError naming file and line.
    """
    pairs = []
    for number, line in enumerate(islice(read_lines(path, _MAX_CHARACTERS), MAX_PAIRS + 10), start=1):
        if line.startswith("#") or not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) < 2 or not (cells[0].strip() and cells[1].strip()):
            raise DataError(f"{path}, line {number}: needs a clean and a corrupted sentence, with a tab between")
        clean, corrupted, first, second, group = (*cells, "", "", "")[:5]
        if bool(first.strip()) != bool(second.strip()):
            raise DataError(f"{path}, line {number}: needs two translations, or none")
        pairs.append(MinimalPair(clean, corrupted, (first, second) if first.strip() else None, group))
        if len(pairs) > MAX_PAIRS:
            raise DataError(f"{path} has more than {MAX_PAIRS:,} pairs")
    if not pairs:
        raise DataError(f"{path} has no pairs")
    return pairs
