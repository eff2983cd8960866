"""Measure a class of 200 students who answer polls on their phones, beside a visitor who has sentences translated.

    python -m benchmarks.server.classroom [--students 200] [--seconds 60] [--rounds 3] [--peer DIR] [--quick]

A teacher opens a class and asks four questions, fewer in less than a minute. The students come from twenty addresses
within the first sixth of the time. Each loads the page with its script and style, keeps the cookie that the server
gives, asks for the state every two seconds and answers each question once. The visitor has a fresh sentence of eight
words translated, with a second after each. Students and visitor share the cores with the server.

With `--peer`, another checkout of the project, a second server runs beside the first. Each round has one class on
either, in turns, and the benchmark prints the ratios of the medians of their rounds. Memory is that of the server with
its workers, in MiB; cores are the time of the processor that they take in a second.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import statistics
import sys
import time
from collections import Counter
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.machine import read_options, report
from benchmarks.screen.browser import ROOT, server
from benchmarks.serve import p95
from benchmarks.server.memory import sentence
from benchmarks.server.visitor import Visitor, memory, processor_seconds, visiting

_POLLS = 4
_POLL_SECONDS = 15  # at least, so that nobody answers too late; a shorter class has fewer polls
_PAUSE = 2.0  # seconds between two states, as in viz_app/classroom/js/join.js
_ADDRESSES = 20
_WARM = 15  # seconds until models are loaded and examples are translated
_PATIENCE = 30  # seconds that a student waits for an answer
_HTML = "text/html,*/*"
_OPEN, _ASK, _END = "class-open", "class-ask-next", "class-end"  # buttons of the page Class


class BadStatus(Exception):
    """The server refused a request that a page sends."""


class Phone:
    """A student's browser: one connection that stays open, and the cookie that the server has given.

    Args:
        address: Of the server.
        forwarded: The browser's own address, as a proxy would forward it.
    """

    def __init__(self, address: str, forwarded: str) -> None:
        self._at, self._forwarded, self.cookie = urlsplit(address), forwarded, ""
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, body: object = None, accept: str = "*/*") -> bytes:
        """Send a request, with JSON if there is a body, and return the answer's body. Raises BadStatus."""
        try:
            return await asyncio.wait_for(self._ask(path, body, accept), _PATIENCE)
        except BaseException:
            self.close()  # a half-read answer would be taken for the next one
            raise

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _ask(self, path: str, body: object, accept: str) -> bytes:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._at.hostname, self._at.port)
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        headers = {"Host": self._at.netloc, "Accept": accept, "X-Forwarded-For": self._forwarded, "Cookie": self.cookie}
        if body is not None:
            headers |= {"Origin": f"http://{self._at.netloc}", "Content-Length": str(len(data))}
        lines = [f"{'GET' if body is None else 'POST'} {path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items() if value]
        writer.write("\r\n".join([*lines, "\r\n"]).encode() + data)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
        given = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
        content = await reader.readexactly(int(given["content-length"]))
        if "set-cookie" in given:
            (morsel,) = SimpleCookie(given["set-cookie"]).values()
            self.cookie = f"{morsel.key}={morsel.value}"
        if head[0].split()[1] != "200":
            raise BadStatus(f"{head[0]}: {path.rpartition('/')[2]}")
        return content


@dataclass
class Lesson:
    """Waits and numbers of one class.

    Args:
        address: Of the server.
        number: Of the round; its sentences are in no other.
        seconds: From the first student to the last.
        pace: Multiplies all pauses.
        waits: Seconds of each request, and of each translation.
        errors: By kind.
        answers: Answers that the server has counted, of each poll.
        measures: Memory and cores of the server.
        is_over: Whether everybody is to leave.
    """

    address: str
    number: int
    seconds: float
    pace: float
    waits: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    answers: list[int] = field(default_factory=list)
    measures: dict[str, float] = field(default_factory=dict)
    is_over: bool = False

    async def hold(self, pid: int, students: int) -> None:
        """Open the class, have everybody work, and measure."""
        async with AsyncExitStack() as stack:
            teacher = Phone(self.address, "")
            await teacher.ask("/", accept=_HTML)
            teacher.close()  # the server ends connections that are idle
            board = await stack.enter_async_context(visiting(self.address, cookie=teacher.cookie))
            await board.open("classroom")
            await board.click(_OPEN, "classroom")
            translating = await stack.enter_async_context(visiting(self.address, "198.51.100.200"))
            await translating.open()
            await translating.translate(sentence(8, 1_000 * (self.number + 1)))  # the first one finds nothing warm
            before, used, started = memory(pid) or 0.0, processor_seconds(pid), time.monotonic()
            await asyncio.gather(
                self._ask_polls(board, teacher),
                self._translate(translating),
                *(self._study(board.classroom, number) for number in range(students)),
            )
            await board.click(_END, "classroom")
            cores = (processor_seconds(pid) - used) / (time.monotonic() - started)
            self.measures = {"MiB before": before, "MiB after": memory(pid) or 0.0, "cores": cores}

    async def _ask_polls(self, board: Visitor, teacher: Phone) -> None:
        await asyncio.sleep(self.seconds / 6)
        polls = max(1, min(_POLLS, int(self.seconds / self.pace / _POLL_SECONDS)))
        for _ in range(polls):
            await board.click(_ASK, "classroom")
            await asyncio.sleep(self.seconds * 5 / 6 / polls * 0.95)
            view = json.loads(await teacher.ask(f"/join/{board.classroom}/state?lang=en"))
            teacher.close()
            self.answers.append(view["answers"])
        self.is_over = True

    async def _translate(self, visitor: Visitor) -> None:
        for number in itertools.count(1_000 * (self.number + 1) + 1):
            if self.is_over:
                return
            self.waits.setdefault("translation", []).append(await visitor.translate(sentence(8, number)))
            await asyncio.sleep(self.pace)

    async def _study(self, code: str, number: int) -> None:
        phone, chance = Phone(self.address, f"203.0.113.{number % _ADDRESSES + 1}"), random.Random(number)
        await asyncio.sleep(chance.uniform(0, self.seconds / 6))
        for path in (code, "app.js", "app.css"):
            await self._timed("join", phone, f"/join/{path}", accept=_HTML if path == code else "*/*")
        answered, due = 0, 0.0  # the last poll, and when its answer is given
        while not self.is_over:
            view = await self._timed("state", phone, f"/join/{code}/state?lang=en")
            if view and view["poll"] > answered and view["state"] == "open":
                due = due or time.monotonic() + chance.uniform(0, self.seconds / 10)
                if time.monotonic() >= due:
                    answer = {"poll": view["poll"], "option": chance.randrange(len(view["question"]["choices"]))}
                    if await self._timed("answer", phone, f"/join/{code}/answer?lang=en", answer):
                        answered, due = view["poll"], 0.0
            await asyncio.sleep(_PAUSE * self.pace)
        phone.close()

    async def _timed(self, name: str, phone: Phone, path: str, body: object = None, accept: str = "*/*") -> Any:
        """Return the view that the server answers, if it is JSON; None for an error, which is counted."""
        started = time.perf_counter()
        try:
            reply = await phone.ask(path, body, accept)
        except (BadStatus, OSError, asyncio.IncompleteReadError) as error:
            self.errors[f"{name}: {type(error).__name__} {error}"[:100]] += 1
            return None
        self.waits.setdefault(name, []).append(time.perf_counter() - started)
        return None if name == "join" else json.loads(reply)

    def numbers(self) -> dict[str, float]:
        """Return its waits, in milliseconds, and what the server took."""
        row = {}
        for name in ("join", "state", "answer"):
            row[f"{name} median ms"] = 1000 * statistics.median(self.waits[name])
            row[f"{name} p95 ms"] = 1000 * p95(self.waits[name])
        row["translation median ms"] = 1000 * statistics.median(self.waits["translation"])
        return row | self.measures


def _measure(options: argparse.Namespace) -> dict[str, list[Lesson]]:
    """Return the classes of this project and of its peer; who begins changes with each round."""
    roots = {"this": ROOT} | ({"peer": Path(options.peer).resolve()} if options.peer else {})
    lessons: dict[str, list[Lesson]] = {name: [] for name in roots}
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(server(root / "viz_app" / "main.py", root)) for name, root in roots.items()
        }
        time.sleep(3 if options.quick else _WARM)
        for number in range(options.rounds):
            for name in list(roots)[:: -1 if number % 2 else 1]:
                sys.stderr.write(f"round {number + 1}: {name}\n")
                address, pid = servers[name]
                lesson = Lesson(address, number, options.seconds, 0.1 if options.quick else 1.0)
                asyncio.run(lesson.hold(pid, options.students))
                lessons[name].append(lesson)
    return lessons


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--students", {"type": int, "default": 200, "metavar": "N", "help": "Of the class. (default: 200)"}),
        ("--seconds", {"type": float, "default": 60, "metavar": "N", "help": "Of a class. (default: 60)"}),
        ("--peer", {"default": "", "metavar": "DIR", "help": "Another checkout of the project to compare with."}),
    )
    if options.quick:
        options.students, options.seconds = 5, 6
    options.rounds = options.rounds or (1 if options.quick else 3)
    lessons = _measure(options)
    rounds = {name: [each.numbers() for each in of] for name, of in lessons.items()}
    medians = {name: {key: statistics.median(each[key] for each in of) for key in of[0]} for name, of in rounds.items()}
    ratios = {key: value / medians["peer"][key] for key, value in medians["this"].items()} if options.peer else {}
    rows = [[key, *(of[key] for of in medians.values()), *([ratios[key]] if ratios else [])] for key in medians["this"]]
    counts = {name: {"answers": [each.answers for each in of]} for name, of in lessons.items()}
    errors = {name: dict(sum((each.errors for each in of), Counter())) for name, of in lessons.items()}
    answer = {"rounds": rounds, "ratios": ratios, "errors": errors, "counts": counts, "students": options.students}
    header = ["median of rounds", *medians, *(["ratio"] if ratios else [])]
    title = f"A class of {options.students}; errors: {errors}; answers counted: {counts}"
    report(title, header, rows, {"classroom": answer}, options)


if __name__ == "__main__":
    main()
