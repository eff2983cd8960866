"""Models that visitors open while the server runs: one at a time is prepared, in its own process.

    store = opened_models()
    with store.upload("opus-mt-ko-en", size) as upload: ...    # or store.open_folder("opus-mt-ko-en", folder)
    store.opening                                             # its progress, or why it failed
    store.models                                              # the opened models, for all visitors of this server

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from viz_app.serving.opening.model_archive import MAX_PACKED, OpenError, check_room, megabytes
from viz_app.serving.opening.model_places import place_prefix, plain_name, remove_leftovers, unused_name
from viz_app.serving.opening.opening_process import Job, Message, Report

MAX_MODELS = 8  # opened at once
_ROOT = Path(__file__).resolve().parents[3]
_MAX_LINE = 1_000_000  # bytes of a message
_LAST_SECONDS = 10.0  # for a process that has reported

State = Literal["upload", "unpack", "recognise", "convert", "failed", "done"]
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


class OpenedModels:
    """All opened models, and the one being opened. Safe for threads.

    Args:
        parent: Parent of the temporary folder; None for the system's place.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self._place: tempfile.TemporaryDirectory[str] | None = None
        self._number = 0  # of the opening; messages of an older one are ignored
        self._process: subprocess.Popen[bytes] | None = None
        self._reports: dict[str, Report] = {}
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

    def open_folder(self, name: str, folder: Path, source: str = "", target: str = "") -> None:
        """Begin to open a folder of this machine. Raises OpenError."""
        number, work = self._begin(name, "recognise")
        self._start(number, self._job(work, folder, name, is_archive=False, languages=(source, target)))

    @contextmanager
    def upload(self, name: str, size: int, source: str = "", target: str = "") -> Iterator[Upload]:
        """Receive an archive in parts; when the block ends without an error, open it.

        Args:
            name: Name of the model.
            size: Announced bytes.
            source: Source language, as for `convert`; empty for the one in the files.
            target: Target language.

        Raises:
            OpenError: The archive is too large, the disk too full, or another model is being opened.
        """
        if not 0 < size <= MAX_PACKED:
            raise OpenError("packed", most=megabytes(MAX_PACKED))
        number, work = self._begin(name, "upload")
        path = work / "upload"
        try:
            check_room(work, size)
            with path.open("xb") as file:
                upload = Upload(self, number, file, size)
                yield upload
            if upload.received != size:
                raise OpenError("interrupted")
            self._start(number, self._job(work, path, name, is_archive=True, languages=(source, target)))
        except BaseException as error:
            problem = error if isinstance(error, OpenError) else OpenError("interrupted")
            self._fail(number, problem)
            raise

    def stop(self) -> None:
        """Stop the current opening and remove its files."""
        with self._lock:
            if self._opening is None or self._opening.is_over:
                return
            number, self._number = self._number, self._number + 1
            self._opening = None
            process, self._process = self._process, None
        self._end(process, number)

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

    def _begin(self, name: str, state: State) -> tuple[int, Path]:
        with self._lock:
            if self._opening is not None and not self._opening.is_over:
                raise OpenError("busy")
            if len(self._reports) >= MAX_MODELS:
                raise OpenError("many", most=str(MAX_MODELS))
            if self._place is None:
                self._place = tempfile.TemporaryDirectory(
                    prefix=place_prefix(), dir=self._parent, ignore_cleanup_errors=True
                )
            self._number += 1
            self._opening = Opening(unused_name(name, self._reports), state)
            work = Path(self._place.name) / str(self._number)
            work.mkdir()
            return self._number, work

    def _job(self, work: Path, source: Path, title: str, *, is_archive: bool, languages: tuple[str, str]) -> Job:
        opening = self._opening
        name = opening.name if opening else "model"
        return Job(
            place=str(work.parent),
            source=str(source),
            is_archive=is_archive,
            out=str(work / name),
            name=name,
            title=plain_name(title),
            source_language=languages[0],
            target_language=languages[1],
        )

    def _start(self, number: int, job: Job) -> None:
        environment = {**os.environ, "PYTHONPATH": str(_ROOT), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "viz_app.serving.opening.opening_process"]
        pipe = subprocess.PIPE
        with self._lock:
            if number != self._number:
                raise OpenError("interrupted")
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment, cwd=_ROOT)
            self._process = process
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.write(msgspec.json.encode(job) + b"\n")
            process.stdin.flush()  # and stays open: its end is the end of this server
        threading.Thread(target=self._listen, args=(number, process), name="opening", daemon=True).start()

    def _listen(self, number: int, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        problem = OpenError("ended")
        while line := process.stdout.readline(_MAX_LINE):
            message = msgspec.json.decode(line, type=Message)
            if message.problem:
                problem = OpenError(message.problem, **message.values)
            elif message.report is not None:
                self._done(number, message.report)
                break
            else:
                self.tell(number, message.step, message.share)
        else:
            self._fail(number, problem)
        self._close(process)

    def tell(self, number: int, step: str, share: float) -> bool:
        """Set the progress of an opening; return whether it still goes on."""
        with self._lock:
            if number != self._number or self._opening is None or self._opening.is_over:
                return False
            self._opening = replace(self._opening, state=step, share=min(1.0, max(0.0, share)))  # type: ignore[arg-type]
            return True

    def _done(self, number: int, report: Report) -> None:
        with self._lock:
            if number != self._number or self._opening is None:
                return
            self._reports[self._opening.name] = report
            _log.info("opened %s: %s, %d parameters", self._opening.name, report.family, report.parameters)
            self._opening = replace(self._opening, state="done", share=1.0)
            self._process = None

    def _fail(self, number: int, error: OpenError) -> None:
        with self._lock:
            if number == self._number and self._opening is not None:
                self._opening = replace(self._opening, state="failed", problem=error.problem, values=error.values)
            process, self._process = self._process if number == self._number else None, None
        self._end(process, number)

    def _end(self, process: subprocess.Popen[bytes] | None, number: int) -> None:
        if process is not None:
            process.kill()
            process.wait()
        with self._lock:
            place = self._place
        if place is not None:
            shutil.rmtree(Path(place.name) / str(number), ignore_errors=True)

    @staticmethod
    def _close(process: subprocess.Popen[bytes]) -> None:
        """Wait for a process that has reported. Closing its input earlier would look like the end of the server."""
        try:
            process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
        for pipe in (process.stdout, process.stdin):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


class Upload:
    """Archive during its upload.

    Args:
        store: Receives the progress.
        number: Number of the opening.
        file: Receives the bytes.
        size: Announced bytes.
    """

    def __init__(self, store: OpenedModels, number: int, file: BinaryIO, size: int) -> None:
        self._store, self._number, self._file, self._size = store, number, file, size
        self.received = 0

    def write(self, part: bytes) -> None:
        """Write a part. Raises OpenError for more than the announced size, and after a stop."""
        self.received += len(part)
        if self.received > self._size or not self._store.tell(self._number, "upload", self.received / self._size):
            raise OpenError("interrupted")
        self._file.write(part)


@cache
def opened_models() -> OpenedModels:
    """Return the process-wide instance."""
    remove_leftovers()
    return OpenedModels()
