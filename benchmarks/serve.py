"""Measure the wait of a class: many visitors of one server, as multiples of what one of them waits alone.

    python -m benchmarks.serve [--against REVISION] [--visitors 30] [--rounds 3] [--alone] [--quick]

Visitors speak Streamlit's websocket protocol, and each has new sentences of fifteen words. In
every round a server of this version and one of another revision of the repository are started, one after the other:

* alone: ten sentences of one visitor, with a pause after each; with `--alone` that is all;
* open: all visitors open the page at once;
* burst: all have a sentence translated at once;
* thinking: each thinks for 5 seconds between four sentences; and twice as many visitors for 10 seconds;
* mixed: as the first of these, but every third visitor opens benches of the Lab and scenes of lessons instead.

An answer is wrong if the translation is not that of the model for this sentence alone.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import ROOT, server
from benchmarks.server.visitor import Visitor, visiting

if TYPE_CHECKING:
    from transformer_core.translator import Translator

AIMS = {"burst": 6.0, "thinking 5 s": 3.0, "thinking 10 s": 4.0}  # p95, over the median alone of the other revision
_WARM = 12  # seconds until models are loaded and processes have begun
_WHO = ["sister", "brother", "mother", "father", "teacher", "doctor", "cousin", "friend", "uncle", "aunt"]
_GIVEN = ["book", "song", "film", "letter", "story", "poem", "picture", "report", "play", "game"]
_ABOUT = ["trains", "birds", "cats", "horses", "music", "stars", "trees", "ships", "bread", "snow"]
_LOOKED_AT: list[tuple[str, dict[str, str]]] = [
    ("lab", {"scene": "off"}),
    ("lab", {"scene": "redirect"}),
    ("lab", {"scene": "depth"}),
    ("lessons", {"lesson": "heads"}),
    ("lessons", {"lesson": "masks"}),
]

Waits = dict[str, list[float]]


def sentences(seed: int) -> Iterator[str]:
    """A thousand sentences of fifteen words, all different."""
    texts = [
        f"The old man who lives next door gave my {who} a beautiful {given} about {about}."
        for who, given, about in itertools.product(_WHO, _GIVEN, _ABOUT)
    ]
    random.Random(seed).shuffle(texts)
    return iter(texts)


class Class:
    """Visitors of one server.

    Args:
        address: Of the server.
        seed: Of their sentences.
        pace: Multiplies the time that they think.
    """

    def __init__(self, address: str, seed: int, pace: float) -> None:
        self._address, self._sentences, self._pace = address, sentences(seed), pace
        self._random = random.Random(seed)
        self.waits: Waits = {}
        self.answers: dict[str, tuple[str, ...]] = {}  # sentence -> tokens of the translation

    async def measure(self, visitors: int) -> None:
        """All of the above, but what the other revision cannot do; without visitors only the one who is alone."""
        async with AsyncExitStack() as stack:
            alone = await stack.enter_async_context(visiting(self._address))
            await alone.open()
            await alone.translate(next(self._sentences))  # the first one finds nothing warm
            for _ in range(10):
                await self._translate("alone", alone)
                await asyncio.sleep(0.3)
            if not visitors:
                return
            everybody = [await stack.enter_async_context(visiting(self._address)) for _ in range(visitors)]
            await self._all(everybody, lambda visitor: self._timed("open", visitor.open()))
            await self._all(everybody, lambda visitor: self._translate("burst", visitor))
            await asyncio.sleep(1)
            await self._all(everybody, lambda visitor: self._think("thinking 5 s", visitor, 5))
            more = [await stack.enter_async_context(visiting(self._address)) for _ in range(visitors)]
            await self._all(more, lambda visitor: visitor.open())
            await self._all([*everybody, *more], lambda visitor: self._think("thinking 10 s", visitor, 10))

    async def mix(self, visitors: int) -> None:
        """Every third visitor does something else than translating."""
        async with AsyncExitStack() as stack:
            everybody = [await stack.enter_async_context(visiting(self._address)) for _ in range(visitors)]
            await self._all(everybody, lambda visitor: visitor.open())
            others = set(map(id, everybody[::3]))
            await self._all(
                everybody,
                lambda visitor: (
                    self._look_around(visitor) if id(visitor) in others else self._think("mixed", visitor, 5)
                ),
            )

    async def _all(self, visitors: list[Visitor], do: Callable[[Visitor], Awaitable[None]]) -> None:
        await asyncio.gather(*(do(visitor) for visitor in visitors))

    async def _think(self, name: str, visitor: Visitor, seconds: float) -> None:
        await asyncio.sleep(self._random.uniform(0, seconds) * self._pace)
        for _ in range(4):
            await self._translate(name, visitor)
            await asyncio.sleep(seconds * self._pace)

    async def _look_around(self, visitor: Visitor) -> None:
        for _ in range(4):
            page, where = self._random.choice(_LOOKED_AT)
            opened = visitor.open(page, text=next(self._sentences), **where)
            await self._timed("mixed, lab and lessons", opened)
            await asyncio.sleep(5 * self._pace)

    async def _translate(self, name: str, visitor: Visitor) -> None:
        text = next(self._sentences)
        self.waits.setdefault(name, []).append(await visitor.translate(text))
        self.answers[text] = visitor.tokens

    async def _timed(self, name: str, does: Awaitable[None]) -> None:
        started = time.perf_counter()
        await does
        self.waits.setdefault(name, []).append(time.perf_counter() - started)


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """The repository at another revision, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["git", "worktree", "add", "--detach", folder, revision], cwd=ROOT, check=True, stderr=subprocess.DEVNULL
        )
        try:
            yield Path(folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, check=True)


def visit(root: Path, seed: int, visitors: int, quick: bool, mixed: bool) -> Class:
    """Start a server, and let a class visit it."""
    with server(root / "viz_app" / "main.py", root) as (address, _):
        time.sleep(3 if quick else _WARM)
        group = Class(address, seed, 0.05 if quick else 1)
        asyncio.run(group.measure(visitors))
        if mixed:
            asyncio.run(group.mix(visitors))
        return group


def wrong_answers(translator: Translator, answers: dict[str, tuple[str, ...]]) -> int:
    """Count the answers that differ from the model's for the sentence alone."""
    alone = {text: translator.translate(text, beam=4).tokens for text in answers}
    return sum(answer != (*alone[text], "</s>") for text, answer in answers.items())


def p95(waits: list[float]) -> float:
    """The 95th percentile."""
    if len(waits) == 1:
        return waits[0]
    return statistics.quantiles(waits, n=20, method="inclusive")[-1]


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--against", {"default": "", "metavar": "REVISION", "help": "Another revision; without it only this one."}),
        ("--alone", {"action": "store_true", "help": "Only one visitor at a time."}),
        ("--visitors", {"type": int, "default": 30, "metavar": "N", "help": "Of the class. (default: 30)"}),
    )
    visitors, rounds = (3, 1) if options.quick else (options.visitors, options.rounds or 3)
    visitors = 0 if options.alone else visitors
    classes, wrong = _measure(options, visitors, rounds)
    waits = {name: _together(runs) for name, runs in classes.items()}
    unit = statistics.median(waits["other" if options.against else "this"]["alone"])
    rows = [
        [name, scene, len(seconds), statistics.median(seconds), p95(seconds), p95(seconds) / unit, AIMS.get(scene, "-")]
        for name, scenes in waits.items()
        for scene, seconds in scenes.items()
    ]
    answer: dict[str, Any] = {"alone_s": unit, "wrong": wrong}
    if options.against:
        pairs = zip(classes["this"], classes["other"], strict=True)
        ratios = [
            statistics.median(this.waits["alone"]) / statistics.median(other.waits["alone"]) for this, other in pairs
        ]
        answer["alone_ratios"] = ratios  # of each round
    for name, scenes in waits.items():
        answer[name] = {scene: {"median": statistics.median(s), "p95": p95(s)} for scene, s in scenes.items()}
    header = ["version", "scene", "n", "median s", "p95 s", "p95 / alone", "aim"]
    report(f"Waits of {visitors or 1} visitors; wrong answers: {wrong}", header, rows, {"serve": answer}, options)


def _measure(options: argparse.Namespace, visitors: int, rounds: int) -> tuple[dict[str, list[Class]], dict[str, int]]:
    """Return waits and wrong answers by version; a version answers with its own model."""
    from transformer_core.translator import Translator

    classes: dict[str, list[Class]] = {"this": []}
    with ExitStack() as stack:
        roots = {"this": ROOT}
        if options.against:
            roots = {"other": stack.enter_context(checked_out(options.against)), **roots}
        for seed in range(rounds):
            for name, root in roots.items():
                sys.stderr.write(f"round {seed + 1}: {name}\n")
                classes.setdefault(name, []).append(
                    visit(root, seed, visitors, options.quick, name == "this" and visitors > 0)
                )
        models = {name: Translator.load(root / "checkpoints" / "en-de") for name, root in roots.items()}
        answers = {name: [each.answers for each in classes[name]] for name in models}
        wrong = {name: sum(wrong_answers(model, each) for each in answers[name]) for name, model in models.items()}
    return classes, wrong


def _together(runs: list[Class]) -> Waits:
    waits: Waits = {}
    for each in runs:
        for scene, seconds in each.waits.items():
            waits.setdefault(scene, []).extend(seconds)
    return waits


if __name__ == "__main__":
    main()
