"""Fuzzing for as long as you like: random and damaged input for every reader of something that a stranger made.

    python -m tests.abuse --minutes 30 [--seed N] [--targets addresses weights]

Prints the executions of each target, and what fell out: the error, its place, and the smallest case found. A case goes
into tests/abuse/corpus/ once its fault is mended. The same seed gives the same cases as long as time allows.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import random
import sys
import time
import traceback
from collections import Counter, defaultdict
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.abuse.model_files import remove_copies
from tests.abuse.target import Target
from tests.abuse.targets import TARGETS

_ROUND = 200  # executions of a target before it is the turn of the next one


class Session:
    """A run over all targets, with what it found."""

    def __init__(self, end: float) -> None:
        self.end = end
        self.executions: Counter[str] = Counter()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.faults: dict[tuple[str, str], str] = {}  # target and place -> error and case

    def round(self, target: Target, number: int) -> None:
        """Some hundred cases of a target. Faults that are known already do not stop it."""
        last: dict[str, Any] = {}

        @seed(number)
        @settings(
            max_examples=_ROUND,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        @given(case=target.cases)
        def run(case: Any) -> None:
            if time.monotonic() > self.end and not last:
                return
            self.executions[target.name] += 1
            try:
                target.run(case)
            except Exception as error:
                place = _place(error)
                if (target.name, place) in self.faults:
                    return
                last.update(case=case, error=error, place=place)
                raise

        started = time.monotonic()
        try:
            run()
        except Exception:
            if not last:
                raise
            text = "".join(traceback.format_exception_only(last["error"])).strip()
            self.faults[target.name, last["place"]] = f"{text[:500]}\n    case: {json.dumps(last['case'])[:1000]}"
        finally:
            self.seconds[target.name] += time.monotonic() - started


def _place(error: Exception) -> str:
    """Kind of the error, and the last line of our own code on its way."""
    root = os.getcwd()
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(root)]
    last = frames[-1] if frames else None
    return f"{type(error).__name__} {os.path.relpath(last.filename, root)}:{last.lineno}" if last else repr(error)[:80]


def main() -> int:
    """Run and print; 1 when something fell out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [target.name for target in TARGETS]
    parser.add_argument("--minutes", type=float, default=30.0, metavar="N")
    parser.add_argument(
        "--seed", type=int, default=None, metavar="N", help="a number; by default another one each time"
    )
    parser.add_argument("--targets", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    options = parser.parse_args()
    faulthandler.enable()
    start = random.SystemRandom().randrange(10**9) if options.seed is None else options.seed
    print(f"seed {start}", flush=True)
    session = Session(time.monotonic() + 60 * options.minutes)
    number = 0
    while time.monotonic() < session.end:
        for target in TARGETS:
            if target.name in options.targets and time.monotonic() < session.end:
                session.round(target, start + number)
        number += 1
    remove_copies()
    for name in options.targets:
        print(f"{name:14s}{session.executions[name]:10,d} executions {session.seconds[name]:8.0f} s")
    for (name, place), fault in session.faults.items():
        print(f"\n{name}: {place}\n    {fault}")
    counts = {"executions": dict(session.executions), "faults": sorted(" ".join(key) for key in session.faults)}
    print(json.dumps({"fuzzing": counts, "seed": start, "minutes": options.minutes}))
    return 1 if session.faults else 0


if __name__ == "__main__":
    sys.exit(main())
