"""Many machines on one: front ends behind nginx before a model server on Ray, and what visitors notice when parts end.

    python -m benchmarks.server.cluster [--visitors 60] [--replicas 2] [--fronts 2] [--quick]

It needs Ray (pip install 'headlight[cluster]') and nginx (apt-get install nginx-light). Visitors speak Streamlit's
websocket protocol through the proxy, which has the configuration of deploy/, and each has sentences of fifteen words
that are new to the cache:

* alone: ten sentences of one visitor, with a pause after each;
* burst: all have a sentence translated at once;
* thinking: each thinks for 10 seconds between three sentences;
* replica killed: as a burst, three times, while a process that holds the model is killed;
* front end stopped: all think for 2 seconds between six sentences while one front end is stopped and started again.
  A visitor who loses the connection comes back with the address of the page, as a browser does, and goes on.

An error is one that a page shows, or a connection that cannot be made again. An answer is wrong if it is not what the
model makes of the sentence alone; that includes what a page shows when its visitor comes back.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import ROOT
from benchmarks.serve import p95, wrong_answers
from benchmarks.server.cluster_parts import Cluster, Part, cluster
from benchmarks.server.soak import texts_without_end
from benchmarks.server.visitor import PageError, Visitor, memory, processor_seconds, visiting

_BACK_SECONDS = 30.0  # within which a visitor who has lost the connection is to be back


@dataclass
class Trial:
    """Failures and waits of visitors.

    Args:
        cluster: What they visit.
        pace: Multiplies the time that they think.
        texts: Sentences that are new to the cache.
        waits: Seconds for a translation, by scene; for coming back, too.
        errors: By scene.
        answers: Tokens of the translation of each sentence.
        stale: Pages that showed something else when their visitor came back.
        used: Seconds of a processor for each sentence, by part.
    """

    cluster: Cluster
    pace: float
    texts: Iterator[str]
    waits: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    answers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stale: int = 0
    used: dict[str, float] = field(default_factory=dict)

    async def run(self, visitors: int) -> None:
        """All scenes."""
        everybody = [Guest(self) for _ in range(visitors)]
        async with AsyncExitStack() as stack:
            for each in everybody:
                stack.push_async_callback(each.leave)
            first = everybody[0]
            await first.come()
            for _ in range(10):
                await first.translate("alone")
                await asyncio.sleep(0.3)
            await _all(everybody[1:], Guest.come)
            await _all(everybody, lambda each: each.translate("burst"))
            await self._think(everybody)
            await asyncio.gather(
                _all(everybody, lambda each: each.work("replica killed", 3, 0)),
                self._after(0.5, self.cluster.kill_replica),
            )
            await asyncio.gather(
                _all(everybody, lambda each: each.work("front end stopped", 6, 2)),
                self._after(3, lambda: _restart(self.cluster.fronts[0])),
            )

    async def _think(self, everybody: list[Guest]) -> None:
        parts = {"front ends": self.cluster.fronts, "model server": [self.cluster.model], "proxy": [self.cluster.proxy]}
        before = {name: _processor_seconds(of) for name, of in parts.items()}
        await _all(everybody, lambda each: each.work("thinking 10 s", 3, 10))
        for name, of in parts.items():
            self.used[name] = (_processor_seconds(of) - before[name]) / (3 * len(everybody))

    async def _after(self, seconds: float, do: Callable[[], None]) -> None:
        await asyncio.sleep(seconds * self.pace)
        await asyncio.to_thread(do)


class Guest:
    """A visitor with a cookie, who comes back when the connection ends.

    Args:
        trial: Where it is noted down.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial, self._text, self._cookie = trial, "", ""
        self._connection: AsyncExitStack | None = None
        self._visitor: Visitor | None = None

    async def come(self) -> None:
        """Open the page: its frame over HTTP, which sets the cookie, then the session."""
        self._cookie = self._cookie or await asyncio.to_thread(_cookie, self._trial.cluster.address)
        await self.leave()
        self._connection = AsyncExitStack()
        address = self._trial.cluster.address
        self._visitor = await self._connection.enter_async_context(visiting(address, cookie=self._cookie))
        await self._visitor.open(**({"text": self._text} if self._text else {}))

    async def leave(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.aclose()

    async def work(self, scene: str, sentences: int, seconds: float) -> None:
        """Have sentences translated, and think before each."""
        for _ in range(sentences):
            await asyncio.sleep(random.uniform(0.5, 1.5) * seconds * self._trial.pace)
            await self.translate(scene)

    async def translate(self, scene: str) -> None:
        """Have a sentence translated, and come back if the connection ends meanwhile."""
        trial, text = self._trial, next(self._trial.texts)
        assert self._visitor is not None
        started = time.perf_counter()
        try:
            try:
                await self._visitor.translate(text)
            except WebSocketException:
                await self._come_back(scene)
                started = time.perf_counter()
                await self._visitor.translate(text)
        except (PageError, WebSocketException, OSError, TimeoutError) as error:
            trial.errors[f"{scene}: {type(error).__name__} {error}"[:200]] += 1
            return
        trial.waits.setdefault(scene, []).append(time.perf_counter() - started)
        trial.answers[text], self._text = self._visitor.tokens, text

    async def _come_back(self, scene: str) -> None:
        """As a browser does: at once, then with pauses; the address has the sentence."""
        started = time.perf_counter()
        while True:
            try:
                await self.come()
                break
            except (WebSocketException, OSError):
                if time.perf_counter() - started > _BACK_SECONDS:
                    raise
                await asyncio.sleep(0.5)
        assert self._visitor is not None
        self._trial.waits.setdefault(f"{scene}: back", []).append(time.perf_counter() - started)
        self._trial.stale += bool(self._text) and self._visitor.tokens != self._trial.answers[self._text]


async def _all(guests: list[Guest], do: Callable[[Guest], Awaitable[None]]) -> None:
    await asyncio.gather(*(do(each) for each in guests))


def _cookie(address: str) -> str:
    with urllib.request.urlopen(f"{address}/", timeout=_BACK_SECONDS) as answer:
        (morsel,) = SimpleCookie(answer.headers["Set-Cookie"]).values()
        return f"{morsel.key}={morsel.value}"


def _restart(part: Part) -> None:
    part.stop()
    time.sleep(2)
    part.start()


def _processor_seconds(parts: list[Part]) -> float:
    return sum(processor_seconds(each.pid) for each in parts)


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--visitors", {"type": int, "default": 60, "metavar": "N", "help": "Of the app. (default: 60)"}),
        ("--replicas", {"type": int, "default": 2, "metavar": "N", "help": "Of the model. (default: 2)"}),
        ("--fronts", {"type": int, "default": 2, "metavar": "N", "help": "Front ends. (default: 2)"}),
    )
    if options.quick:
        options.visitors = 4
    with (
        tempfile.TemporaryDirectory() as folder,
        cluster(Path(folder), options.replicas, options.fronts) as running,
    ):
        trial = Trial(running, 0.1 if options.quick else 1.0, texts_without_end())
        asyncio.run(trial.run(options.visitors))
        sizes = {
            "front end": memory(running.fronts[-1].pid),
            "replica": memory(running.replicas()[0]),
            "model server": memory(running.model.pid),
        }
    _print(trial, sizes, options)


def _print(trial: Trial, sizes: dict[str, float | None], options: argparse.Namespace) -> None:
    from transformer_core.translator import Translator

    wrong = wrong_answers(Translator.load(ROOT / "checkpoints" / "en-de"), trial.answers) + trial.stale
    rows = [[scene, len(s), statistics.median(s), p95(s), max(s)] for scene, s in trial.waits.items()]
    answer: dict[str, Any] = {
        "visitors": options.visitors,
        "sentences": len(trial.answers),
        "wrong": wrong,
        "errors": dict(trial.errors),
        "scenes": {scene: {"median": statistics.median(s), "p95": p95(s)} for scene, s in trial.waits.items()},
        "processor_seconds_per_sentence": trial.used,
        "MiB": sizes,
    }
    title = (
        f"{options.fronts} front ends, {options.replicas} replicas, {options.visitors} visitors; "
        f"{len(trial.answers)} sentences, wrong: {wrong}, errors: {trial.errors.total()}"
    )
    report(title, ["scene", "n", "median s", "p95 s", "worst s"], rows, {"cluster": answer}, options)


if __name__ == "__main__":
    main()
