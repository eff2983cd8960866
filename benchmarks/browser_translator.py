"""Measure the browser's translator in Node beside Python: greedy search, beam search, all maps, packed, and the flow.

    python -m benchmarks.browser_translator [--checkpoint DIR] [--text TEXT] [--clock cpu] [--rounds 30] [--quick]

One sentence; `kernel` multiplies in WebAssembly, `plain` in JavaScript, and `python` with torch on one thread. All take
turns. `maps` is a forced pass over source and translation for the weights of every head, in the bytes of the explorer.
`flow` is that of every word, with the logit lens; `contrast` that of the last one, compared with another token.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.decode import TEXT
from benchmarks.machine import read_options, report
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.translator import Translator
from viz_app.components.explorer.weights import pack_weights
from viz_app.explorer_view.flow import flow_data
from viz_app.explorer_view.live_model import live_model
from viz_app.serving.models.translation_service import BEAM, TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.text import texts

SCRIPT = Path(__file__).parent / "peers" / "browser_translator.js"
TASKS = ("greedy", "beam", "maps", "flow", "contrast")
NODES = {"kernel": "", "plain": "plain"}


class Node:
    """The translator in a process of Node."""

    def __init__(self, *arguments: str) -> None:
        folders = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
        if (node := shutil.which("node", path=folders)) is None:
            raise SystemExit("Node is missing: pip install -r requirements-dev.txt")
        command = [node, str(SCRIPT), *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        self.translation = self._line()

    def run(self, task: str, clock: str) -> float:
        """Return the seconds of one task."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{task}\n")
        self.process.stdin.flush()
        seconds: float = json.loads(self._line())[clock]
        return seconds

    def _line(self) -> str:
        assert self.process.stdout is not None
        if not (line := self.process.stdout.readline()):
            raise RuntimeError(f"Node ended with status {self.process.wait()}")
        return line.removesuffix("\n")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return milliseconds by task and peer."""
    folder = Path(find_checkpoint(options.checkpoint))
    translator = Translator.load(folder, options.device)
    service = TranslationService(translator, RequestQueue(1), name=folder.name)
    translation = translator.translate(options.text, beam=BEAM)
    last = len(translation.hypotheses[0].ids)
    with ExitStack() as stack:
        description = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "live.json"
        description.write_text(json.dumps(live_model(service, texts("en", source="en"))), encoding="utf-8")
        runs: dict[str, Callable[[], float]] = {
            "greedy python": timed(options.clock, lambda: translator.translate(options.text, beam=1)),
            "beam python": timed(options.clock, lambda: translator.translate(options.text, beam=BEAM)),
            "maps python": timed(options.clock, lambda: pack_weights(translation.attention_of(0))),
            "flow python": timed(options.clock, lambda: flow_data(translator, translation, folder.name)),
            "contrast python": timed(
                options.clock, lambda: flow_data(translator, translation, folder.name, range(last, last + 1), ".")
            ),
        }
        for name, mode in NODES.items():
            node = Node(str(folder), str(description), options.text, mode)
            stack.enter_context(node.process)
            stack.callback(node.process.kill)
            if node.translation != translation.text:
                raise SystemExit(f"Node says {node.translation!r}, Python {translation.text!r}")
            runs |= {f"{task} {name}": partial(node.run, task, options.clock) for task in TASKS}
        rounds = options.rounds or (2 if options.quick else 30)
        seconds = [{name: run() for name, run in runs.items()} for _ in range(rounds + 1)][1:]  # the first warms up
    middle = {name: 1000 * statistics.median(each[name] for each in seconds) for name in runs}
    return {task: {peer: middle[f"{task} {peer}"] for peer in (*NODES, "python")} for task in TASKS}


def timed(clock: str, run: Callable[[], object]) -> Callable[[], float]:
    """Return the same run, which returns its seconds."""
    now = time.process_time if clock == "cpu" else time.perf_counter

    def seconds() -> float:
        started = now()
        run()
        return now() - started

    return seconds


def main() -> None:
    """Print a table, then one line of JSON."""
    options = read_options(
        __doc__,
        ("--checkpoint", {"default": "en-fr-small", "metavar": "DIR", "help": "A translator. (default: en-fr-small)"}),
        ("--text", {"default": TEXT, "metavar": "TEXT", "help": "A sentence of 12 words by default."}),
    )
    measurements = measure(options)
    rows = [[task, *times.values(), times["kernel"] / times["python"]] for task, times in measurements.items()]
    header = ["ms", *measurements["greedy"], "kernel / python"]
    report(f"{options.checkpoint}, {options.text}", header, rows, {"browser_translator": measurements}, options)


if __name__ == "__main__":
    main()
