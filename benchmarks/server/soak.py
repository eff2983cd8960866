"""Does a server stay as it is? Visitors come and go for an hour, and a process that decodes is killed now and then.

    python -m benchmarks.server.soak [--minutes 60] [--visitors 30] [--think 5] [--kill-every 300] [--quick]

Each visitor opens random pages, has sentences translated, thinks between them and leaves. When as many sentences
have been translated as the cache of attention maps holds, it is measured how memory and open files grow: the slope of a
line through a value every ten seconds. An answer is wrong if it is not what the model makes of the sentence alone.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import signal
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import APP, ROOT, server
from benchmarks.serve import sentences, wrong_answers
from benchmarks.server.visitor import memory, processes, visiting

_PAGES = ["", "lab", "lessons", "figures", "model"]
_WHEN = ["Yesterday", "Today", "Once", "Last week", "In the evening"]
_WARM = 1_100  # sentences; the cache holds 1,024


@dataclass
class Soak:
    """Events and numbers of a soak test.

    Args:
        address: Of the server.
        pid: Its process.
        answers: Tokens of the translation of each sentence.
        failures: Errors of visitors, by kind.
        killed: Processes that were killed.
        is_over: Whether visitors are to come no more.
        samples: Seconds, MiB of the server, MiB of all, files that the server has open.
    """

    address: str
    pid: int
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    killed: int = 0
    is_over: bool = False
    samples: list[tuple[float, float, float, float]] = field(default_factory=list)

    async def run(self, visitors: int, seconds: float, think: float, kill_every: float, warm: int) -> None:
        """All of it; the time counts from the end of the warm-up."""
        texts = texts_without_end()
        tasks = [asyncio.create_task(self._come_and_go(texts, think, seed)) for seed in range(visitors)]
        while len(self.answers) < warm:
            await asyncio.sleep(0.2)
        started, killed = time.monotonic(), time.monotonic()
        while time.monotonic() - started < seconds:
            await asyncio.sleep(min(10, seconds / 20))
            self._sample(time.monotonic() - started)
            if time.monotonic() - killed > kill_every:
                self._kill()
                killed = time.monotonic()
        self.is_over = True  # a connection that is being closed may swallow that its task is cancelled
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _come_and_go(self, texts: Iterator[str], think: float, seed: int) -> None:
        chance = random.Random(seed)
        while not self.is_over:
            try:
                async with visiting(self.address) as visitor:
                    await visitor.open()
                    for _ in range(chance.randint(1, 5)):
                        if chance.random() < 0.3:
                            await visitor.open(chance.choice(_PAGES[1:]), text=next(texts))
                            await visitor.open()
                        text = next(texts)
                        await visitor.translate(text)
                        self.answers[text] = visitor.tokens
                        await asyncio.sleep(chance.uniform(0.1 * think, think))
            except Exception as error:  # counted, and the next visitor comes
                self.failures[type(error).__name__] += 1
                await asyncio.sleep(1)

    def _sample(self, seconds: float) -> None:
        own = memory(self.pid, alone=True)
        files = len(list(Path(f"/proc/{self.pid}/fd").iterdir()))
        self.samples.append((seconds, own or 0.0, memory(self.pid) or 0.0, files))

    def _kill(self) -> None:
        for pid in processes(self.pid):
            with suppress(OSError):
                if b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
                    self.killed += 1
                    return

    def slope(self, column: int) -> float:
        """Return the growth of a column of the samples in an hour."""
        times, values = [each[0] for each in self.samples], [each[column] for each in self.samples]
        return statistics.linear_regression(times, values).slope * 3600


def texts_without_end() -> Iterator[str]:
    """Five thousand sentences, again and again."""
    plain = list(sentences(1))
    every = [f"{when} t{text[1:]}" for text, when in itertools.product(plain, _WHEN)]
    random.Random(2).shuffle(every)
    return itertools.cycle(every)


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--minutes", {"type": float, "default": 60, "metavar": "N", "help": "After the warm-up. (default: 60)"}),
        ("--visitors", {"type": int, "default": 30, "metavar": "N", "help": "At any time. (default: 30)"}),
        ("--think", {"type": float, "default": 5, "metavar": "S", "help": "Seconds at most. (default: 5)"}),
        ("--kill-every", {"type": float, "default": 300, "metavar": "S", "help": "Seconds. (default: 300)"}),
    )
    from transformer_core.translator import Translator

    if options.quick:
        options.minutes, options.visitors, options.kill_every = 0.3, 3, 5
    with server(APP) as (address, pid):
        time.sleep(10)
        soak, warm = Soak(address, pid), 5 if options.quick else _WARM
        asyncio.run(soak.run(options.visitors, options.minutes * 60, options.think, options.kill_every, warm))
    wrong = wrong_answers(Translator.load(ROOT / "checkpoints" / "en-de"), soak.answers)
    results = _results(soak, options, wrong)
    report("Soak", ["measure", "value"], [[name, value] for name, value in results.items()], {"soak": results}, options)


def _results(soak: Soak, options: argparse.Namespace, wrong: int) -> dict[str, object]:
    return {
        "minutes": options.minutes,
        "visitors": options.visitors,
        "think_s": options.think,
        "sentences": len(soak.answers),
        "wrong": wrong,
        "failures": dict(soak.failures),
        "killed": soak.killed,
        "server_MiB": soak.samples[-1][1],
        "server_MiB_per_hour": soak.slope(1),
        "all_MiB_per_hour": soak.slope(2),
        "files_per_hour": soak.slope(3),
    }


if __name__ == "__main__":
    main()
