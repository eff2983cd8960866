"""Measure the pages that the server draws in a second, for one visitor and for many at once.

    python -m benchmarks.server.pages [--quick] [--visitors 10]

Each visitor opens the page Translate again and again, with a translation that is in the cache, so that nothing but
drawing is measured. The peer is one visitor alone: where threads fight for the interpreter, a page of many costs more.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from pathlib import Path

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import APP, server
from benchmarks.server.visitor import Visitor, visiting
from viz_app.serving.web.middleware import MESSAGE_BURST, MESSAGES_PER_SECOND

_EXAMPLES = 15  # seconds until they are translated


def _processor_seconds(pid: int) -> float:
    """Of a process, in all threads; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / 100


async def _draw(visitor: Visitor, pages: int) -> None:
    for _ in range(pages):
        await visitor.open()


async def _measure(address: str, pid: int, visitors: int, rounds: int) -> tuple[list[float], list[float]]:
    """Pages in a second, and milliseconds of the processor for a page, of each round."""
    speeds, costs = [], []
    pages = MESSAGE_BURST - 2  # so that nobody waits for the limit of messages
    for _ in range(rounds):
        contexts = [visiting(address, f"198.51.100.{number + 1}") for number in range(visitors)]
        opened = [await context.__aenter__() for context in contexts]
        await asyncio.gather(*(visitor.open() for visitor in opened))
        await asyncio.sleep(2 / MESSAGES_PER_SECOND)
        started, before = time.perf_counter(), _processor_seconds(pid)
        await asyncio.gather(*(_draw(visitor, pages) for visitor in opened))
        seconds, cost = time.perf_counter() - started, _processor_seconds(pid) - before
        speeds.append(visitors * pages / seconds)
        costs.append(1000 * cost / (visitors * pages))
        for context in contexts:
            await context.__aexit__(None, None, None)
    return speeds, costs


async def _all(address: str, pid: int, visitors: int, rounds: int) -> dict[int, tuple[list[float], list[float]]]:
    async with visiting(address, "198.51.100.200") as visitor:
        await visitor.open()
        await asyncio.sleep(_EXAMPLES)
    return {number: await _measure(address, pid, number, rounds) for number in (1, visitors)}


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__, ("--visitors", {"type": int, "default": 10, "metavar": "N", "help": "(default: 10)"})
    )
    with server(APP) as (address, pid):
        rounds_of = asyncio.run(_all(address, pid, options.visitors, 1 if options.quick else 5))
    rows = [[number, *map(statistics.median, rounds)] for number, rounds in rounds_of.items()]
    answer = {
        "pages": {number: {"pages_per_second": speeds, "ms": costs} for number, (speeds, costs) in rounds_of.items()}
    }
    report("Pages of Translate", ["visitors", "pages/s", "ms of processor"], rows, answer, options)


if __name__ == "__main__":
    main()
