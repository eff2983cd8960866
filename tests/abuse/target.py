"""A reader that the fuzzing feeds, and the time and memory that one case may take."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis.strategies import SearchStrategy

SECONDS = 10.0  # of processor time that one case may take
MEGABYTES = 300  # that one case may add to the largest memory so far


class OutOfBounds(AssertionError):
    """A case took too much time or memory."""


@contextmanager
def within(megabytes: float = MEGABYTES, seconds: float = SECONDS) -> Iterator[None]:
    """Bounds of the memory that is added to the largest so far, and of processor time."""
    started, memory = time.process_time(), _peak()
    yield
    took, added = time.process_time() - started, _peak() - memory
    if took > seconds or added > megabytes:
        raise OutOfBounds(f"took {took:.1f} s and {added:.0f} MB more")


@dataclass(frozen=True)
class Target:
    """A reader.

    Args:
        name: Of the reader, and of its file in `corpus/`.
        cases: What it is fed.
        check: Feeds it; raises when it breaks its promises.
    """

    name: str
    cases: SearchStrategy[Any]
    check: Callable[[Any], None]

    def run(self, case: Any) -> None:
        """Check a case within the bounds of time and memory."""
        with within():
            self.check(case)

    @property
    def corpus(self) -> list[Any]:
        """Cases that broke something once, and some made by hand."""
        path = Path(__file__).parent / "corpus" / f"{self.name}.json"
        data: list[Any] = json.loads(path.read_text(encoding="utf-8"))
        return data


def _peak() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
