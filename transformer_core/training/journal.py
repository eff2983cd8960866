"""`metrics.jsonl`: what happened in a training, one JSON object a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from transformer_core.files import replace_text, tidy


class Journal:
    """The journal of one run.

    Args:
        run: Folder of the run.
        writes: Whether this process is the one that writes.
    """

    def __init__(self, run: Path, writes: bool = True) -> None:
        self.path = run / "metrics.jsonl"
        self.writes = writes

    def write(self, line: dict[str, Any]) -> None:
        """Add a line."""
        if self.writes:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def forget_after(self, step: int) -> None:
        """Drop the lines of updates that a resumed run does again."""
        if not self.writes:
            return
        tidy(self.path.parent, self.path.name)
        if self.path.exists():
            # A line without its end was cut off when the run was killed.
            whole = self.path.read_text(encoding="utf-8").split("\n")[:-1]
            kept = [line for line in whole if json.loads(line)["step"] <= step]
            replace_text(self.path, "".join(line + "\n" for line in kept))
