"""Measure the memory that N visitors need: one server, more and more sessions, each with sentences of its own.

    python -m benchmarks.server.memory [--quick] [--visitors 1 5 10 20] [--words 15]

Each visitor keeps the page Translate open and has a new sentence of --words words translated in every round. The
memory is that of the server's process, with the model and torch in it: after the sentences, and at its peak.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import AsyncExitStack

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import APP, server
from benchmarks.server.visitor import memory, visiting

_WORDS = "the old man who lives next door gave my sister a beautiful book about birds and"


def sentence(words: int, number: int) -> str:
    """Return a sentence of `words` words that no other number has."""
    known = _WORDS.split()
    return " ".join([*(known[at % len(known)] for at in range(words - 1)), str(number)]) + "."


async def _measure(address: str, pid: int, options: argparse.Namespace) -> list[dict[str, float | int | None]]:
    rows: list[dict[str, float | int | None]] = []
    number = 0
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(visiting(address))]
        await visitors[0].open()
        for count in options.visitors:
            while len(visitors) < count:
                visitors.append(await stack.enter_async_context(visiting(address)))
                await visitors[-1].open()
            for _ in range(options.rounds):
                texts = [sentence(options.words, number + at) for at in range(count)]
                number += count
                await asyncio.gather(*(one.translate(text) for one, text in zip(visitors, texts, strict=True)))
            rows.append({"visitors": count, "MiB": memory(pid), "peak MiB": memory(pid, "VmHWM"), "sentences": number})
    return rows


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--visitors", {"type": int, "nargs": "+", "default": [], "metavar": "N", "help": "(default: 1 5 10 20)"}),
        ("--words", {"type": int, "default": 15, "metavar": "N", "help": "Of each sentence. (default: 15)"}),
    )
    options.visitors = sorted(options.visitors) or ([1, 2] if options.quick else [1, 5, 10, 20])
    options.rounds = options.rounds or (1 if options.quick else 5)
    with server(APP) as (address, pid):
        measured = asyncio.run(_measure(address, pid, options))
    header = list(measured[0])
    rows = [["-" if each[name] is None else f"{each[name]:.0f}" for name in header] for each in measured]
    report("Memory of the server", header, rows, {"memory": measured, "words": options.words}, options)


if __name__ == "__main__":
    main()
