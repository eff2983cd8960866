"""Measure the wait of a visitor while others attack the server, and the server's memory.

    python -m benchmarks.server.abuse [--quick] [--seconds 30] [--attacks NAME ...]

One visitor has a fresh short sentence translated again and again; meanwhile the attacks run in a process of their own,
one after the other. Visitor and attackers speak Streamlit's websocket protocol, from addresses that the server takes
from X-Forwarded-For, as behind a proxy on this machine. Attackers share the cores with the server, so that their own
work counts too.

* reruns: three clients have the page drawn again and again. What a large text adds is the difference to this.
* huge text, large text: three clients send 20 MB, or 900 kB, as the text of the field.
* 6 and 20 sessions: each has fresh texts of 185 words translated, from one other address, or from the visitor's own.
* class: thirty sessions of the visitor's own address, as behind one router, have fresh sentences of 15 words translated
  and think for 5 seconds each; alone, and while 6 sessions of another address do as above.
* huge figure: three clients open /figures?width=2000&height=2000&dpi=600 and press every download button.
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import random
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from websockets.exceptions import ConnectionClosed

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import APP, server
from benchmarks.server.memory import sentence
from benchmarks.server.visitor import Visitor, forget_peak, memory, visiting

VISITOR, ATTACKER = "198.51.100.1", "203.0.113.9"  # of the ranges for examples (RFC 5737)

Client = Callable[[str, str], Awaitable[None]]


@dataclass(frozen=True)
class Found:
    """Waits of the visitor during an attack.

    Args:
        median: Seconds of a wait.
        worst: Seconds of the longest one.
        waits: How many there were.
        peak: MiB of the server at most; None where the system does not tell.
    """

    median: float
    worst: float
    waits: int
    peak: float | None


async def _send_texts(address: str, forwarded: str, size: int) -> None:
    async with visiting(address, forwarded) as visitor:
        await visitor.open()
        while True:
            await visitor.press(f"{random.random()} " + "a b " * (size // 4))


async def _rerun(address: str, forwarded: str) -> None:
    async with visiting(address, forwarded) as visitor:
        while True:
            await visitor.open()


async def _translate(address: str, forwarded: str, words: int) -> None:
    async with visiting(address, forwarded) as visitor:
        await visitor.open()
        while True:
            await visitor.translate(sentence(words, random.randrange(10**9)))


async def _study(address: str, forwarded: str, words: int) -> None:
    async with visiting(address, forwarded) as visitor:
        await visitor.open()
        while True:
            await asyncio.sleep(random.uniform(0, 10))
            await visitor.translate(sentence(words, random.randrange(10**9)))


async def _draw(address: str, forwarded: str) -> None:
    async with visiting(address, forwarded) as visitor:
        await visitor.open("figures", width="2000", height="2000", dpi="600")
        while True:
            for file in list(visitor.files):
                await visitor.download(file)
            await asyncio.sleep(0.1)


Group = tuple[Client, int, str]  # what each client does, how many there are, and from where

_CLASS: Group = (partial(_study, words=15), 30, VISITOR)
ATTACKS: dict[str, list[Group]] = {
    "reruns": [(_rerun, 3, ATTACKER)],
    "huge text": [(partial(_send_texts, size=20_000_000), 3, ATTACKER)],
    "large text": [(partial(_send_texts, size=900_000), 3, ATTACKER)],
    "6 sessions": [(partial(_translate, words=185), 6, ATTACKER)],
    "20 sessions": [(partial(_translate, words=185), 20, ATTACKER)],
    "6 sessions, same address": [(partial(_translate, words=185), 6, VISITOR)],
    "20 sessions, same address": [(partial(_translate, words=185), 20, VISITOR)],
    "class": [_CLASS],
    "class, 6 sessions": [_CLASS, (partial(_translate, words=185), 6, ATTACKER)],
    "huge figure": [(_draw, 3, ATTACKER)],
}


def _attack(name: str, address: str) -> None:
    """Attack until this process is ended; a client that is thrown out comes back a second later."""

    async def persistent(client: Client, forwarded: str) -> None:
        while True:
            with suppress(ConnectionClosed, OSError, TimeoutError):
                await client(address, forwarded)
            await asyncio.sleep(1)

    async def all_clients() -> None:
        groups = ATTACKS[name]
        await asyncio.gather(*(persistent(client, place) for client, count, place in groups for _ in range(count)))

    asyncio.run(all_clients())


async def _waits(visitor: Visitor, numbers: itertools.count[int], seconds: float) -> list[float]:
    """Translate one sentence after the other for the visitor, three at least, and return the waits."""
    waits: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(waits) < 3:
        waits.append(await visitor.translate(f"The dog has {next(numbers)} cats."))
        await asyncio.sleep(0.5)
    return waits


async def _measure(address: str, pid: int, names: list[str], seconds: float) -> dict[str, Found]:
    numbers = itertools.count(100)
    processes = multiprocessing.get_context("spawn")
    waits_under: dict[str, Found] = {}
    async with visiting(address, VISITOR) as visitor:
        await visitor.open()
        await asyncio.sleep(min(seconds, 15))  # until the examples are translated
        for name in ["no attack", *names]:
            forget_peak(pid)
            attacker: Any = processes.Process(target=_attack, args=(name, address), daemon=True)
            if name in ATTACKS:
                attacker.start()
                await asyncio.sleep(min(seconds, 5))
            try:
                waits = await _waits(visitor, numbers, seconds)
            finally:
                if name in ATTACKS:
                    attacker.terminate()
                    attacker.join()
            waits_under[name] = Found(statistics.median(waits), max(waits), len(waits), memory(pid, "VmHWM"))
            await asyncio.sleep(min(seconds, 5))
    return waits_under


def main() -> None:
    """Measure and print."""
    attacks = {"nargs": "+", "choices": list(ATTACKS), "default": list(ATTACKS), "metavar": "NAME"}
    options = read_options(
        __doc__,
        ("--seconds", {"type": float, "default": 0, "metavar": "N", "help": "Of each attack. (default: 30)"}),
        ("--attacks", {**attacks, "help": ", ".join(ATTACKS)}),
    )
    options.seconds = options.seconds or (3 if options.quick else 30)
    with server(APP) as (address, pid):
        waits_under = asyncio.run(_measure(address, pid, options.attacks, options.seconds))
    calm = waits_under["no attack"].median
    header = ["attack", "median s", "rise s", "worst s", "waits", "peak MiB"]
    rows = []
    for name, each in waits_under.items():
        peak = "-" if each.peak is None else f"{each.peak:.0f}"
        rows.append([name, each.median, each.median - calm, each.worst, each.waits, peak])
    answer = {"abuse": {name: asdict(each) for name, each in waits_under.items()}, "seconds": options.seconds}
    report("Waits of a visitor", header, rows, answer, options)


if __name__ == "__main__":
    main()
