"""Models that visitors open while the server runs: one at a time is prepared, in its own process.

    store = opened_models()
    store.open_folder("opus-mt-ko-en", folder)
    store.opening  # its progress, or why it failed
    store.models  # the opened models, for all visitors of this server

The models are in a temporary folder that the server removes at its end. `convert` makes a checkpoint that stays.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from transformer_core.storage.temporary_folders import remove_leftovers, temporary_folder
from viz_app.serving.checked_json import READ_ERRORS
from viz_app.serving.opening.model_places import unused_name
from viz_app.serving.opening.open_error import OpenError
from viz_app.serving.opening.opening_process import Job, Message, Report

MAX_MODELS = 8  # opened at once
_ROOT = Path(__file__).resolve().parents[3]
_PLACE = "headlight-models"  # kind of the temporary folder
_MAX_LINE = 1_000_000  # bytes of a message
_LAST_SECONDS = 10.0  # for a process that has reported

State = Literal["recognise", "convert", "failed", "done"]
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Opening:
    """Progress of the opening of a model, or its end.

    Args:
        name: Name of the model.
        state: Present step, or the end.
        share: Done share of the step, 0 to 1.
        problem: Why it failed: a label `open_model.problem_...`.
        values: Values for the label.
    """

    name: str
    state: State
    share: float = 0.0
    problem: str = ""
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        """Whether the opening has ended."""
        return self.state in ("failed", "done")


class _Attempt:
    """Attempt to open a model.

    Args:
        name: Name of the model.
        work: Folder of its files.
    """

    def __init__(self, name: str, work: Path) -> None:
        self.name, self.work = name, work
        self.process: subprocess.Popen[bytes] | None = None

    def end(self) -> None:
        """Kill the process and remove the files."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.work, ignore_errors=True)


class OpenedModels:
    """All opened models, and the one being opened. Safe for threads.

    Args:
        parent: Parent of the temporary folder; None for the system's place.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self._place: tempfile.TemporaryDirectory[str] | None = None
        self._count = 0  # attempts so far
        self._attempt: _Attempt | None = None  # the present one; messages of others are ignored
        self._reports: dict[str, Report] = {}
        self._owners: dict[str, str] = {}  # of the models and of the newest opening
        self._opening: Opening | None = None

    @property
    def opening(self) -> Opening | None:
        """Progress of the newest opening; None before the first one, and after it was dismissed."""
        return self._opening

    @property
    def models(self) -> dict[str, Report]:
        """Report on each opened model, by name."""
        with self._lock:
            return dict(self._reports)

    def owner_of(self, name: str) -> str:
        """Return the browser or session that opened a model, or opens it; "" for none."""
        return self._owners.get(name, "")

    def open_folder(self, name: str, folder: Path, source: str = "", target: str = "", owner: str = "") -> None:
        """Begin to open a folder of this machine. Raises OpenError."""
        attempt = self._begin(name, owner)
        self._start(attempt, folder, source, target)

    def stop(self) -> None:
        """Stop the current opening and remove its files."""
        with self._lock:
            attempt, self._attempt = self._attempt, None
            if attempt is None:
                return
            self._opening = None
        attempt.end()

    def dismiss(self) -> None:
        """Forget the end of the last opening."""
        with self._lock:
            if self._opening is not None and self._opening.is_over:
                self._opening = None

    def remove(self, name: str) -> None:
        """Remove an opened model and its files; a folder opened in place stays."""
        with self._lock:
            report = self._reports.pop(name, None)
            place = Path(self._place.name) if self._place else None
        if report is not None and place is not None and Path(report.folder).is_relative_to(place):
            shutil.rmtree(Path(report.folder).parent, ignore_errors=True)

    def close(self) -> None:
        """Stop the opening and remove all models, at the end of the server."""
        self.stop()
        with self._lock:
            self._reports.clear()
            place, self._place = self._place, None
        if place is not None:
            place.cleanup()

    def _begin(self, name: str, owner: str) -> _Attempt:
        with self._lock:
            if self._attempt is not None:
                raise OpenError("busy")
            if len(self._reports) >= MAX_MODELS:
                raise OpenError("many", most=str(MAX_MODELS))
            if self._place is None:
                self._place = temporary_folder(_PLACE, self._parent)
            self._count += 1
            self._attempt = _Attempt(unused_name(name, self._reports), Path(self._place.name) / str(self._count))
            self._owners = {each: self.owner_of(each) for each in self._reports} | {self._attempt.name: owner}
            self._opening = Opening(self._attempt.name, "recognise")
            self._attempt.work.mkdir()
            return self._attempt

    def _start(self, attempt: _Attempt, folder: Path, source: str, target: str) -> None:
        job = Job(
            place=str(attempt.work.parent),
            source=str(folder),
            out=str(attempt.work / attempt.name),
            name=attempt.name,
            source_language=source,
            target_language=target,
        )
        environment = {**os.environ, "PYTHONPATH": str(_ROOT), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "viz_app.serving.opening.opening_process"]
        pipe = subprocess.PIPE
        with self._lock:
            if attempt is not self._attempt:
                raise OpenError("interrupted")
            process = attempt.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, cwd=_ROOT)
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(msgspec.json.encode(job) + b"\n")
            process.stdin.flush()  # and stays open: its end is the end of this server
        threading.Thread(target=self._listen, args=(attempt, process), name="opening", daemon=True).start()

    def _listen(self, attempt: _Attempt, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        problem, message = OpenError("ended"), Message()
        with suppress(*READ_ERRORS):  # half a line of a killed process, or one over the limit
            while message.report is None and (line := process.stdout.readline(_MAX_LINE)):
                message = msgspec.json.decode(line, type=Message)
                if message.problem:
                    problem = OpenError(message.problem, **message.values)
                elif message.report is None:
                    self._tell(attempt, message.step, message.share)
        if message.report is not None:
            self._done(attempt, message.report)
        else:
            self._fail(attempt, problem)
        self._close(process)

    def _tell(self, attempt: _Attempt, step: str, share: float) -> None:
        """Set the progress of an opening, unless another one has begun."""
        with self._lock:
            if attempt is self._attempt and self._opening is not None:
                self._opening = replace(self._opening, state=step, share=min(1.0, max(0.0, share)))  # type: ignore[arg-type]

    def _done(self, attempt: _Attempt, report: Report) -> None:
        with self._lock:
            if attempt is self._attempt:
                self._attempt, self._opening = None, Opening(attempt.name, "done", share=1.0)
                self._reports[attempt.name] = report
                _log.info("opened %s: %s, %d parameters", attempt.name, report.family, report.parameters)

    def _fail(self, attempt: _Attempt, error: OpenError) -> None:
        with self._lock:
            if attempt is self._attempt:
                self._attempt = None
                self._opening = Opening(attempt.name, "failed", problem=error.problem, values=error.values)
        attempt.end()

    @staticmethod
    def _close(process: subprocess.Popen[bytes]) -> None:
        """Wait for a process that has reported. Closing its input earlier would look like the end of the server."""
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LAST_SECONDS)
        process.kill()
        process.wait()
        for pipe in filter(None, (process.stdout, process.stdin)):
            with suppress(OSError):
                pipe.close()


@cache
def opened_models() -> OpenedModels:
    """Return the process-wide instance."""
    remove_leftovers(_PLACE)
    return OpenedModels()
