"""Process that opens a model: `python -m viz_app.serving.opening.opening_process`, a `Job` as JSON on its input.

Its output are lines of JSON, each a `Message`. When the server ends, even killed, this process removes all files and
ends.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from viz_app.serving.opening.open_error import OpenError, check_room

_NICE = 10
_MAX_VOCABULARY = 100_000_000  # bytes
_NAMED = 8  # languages that a message names, ...
_FAMILIAR = frozenset(("de", "en", "es", "fr", "ja", "ko", "zh"))  # ... these first


class Job(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Model to open.

    Args:
        place: The server's folder for models; removed after the server's end.
        source: Folder.
        out: Target of the checkpoint; a checkpoint in a folder stays there.
        name: Name of the model.
        source_language: Language named by the visitor; empty for the one in the files.
        target_language: Likewise.
    """

    place: str
    source: str
    out: str
    name: str
    source_language: str = ""
    target_language: str = ""


class Report(msgspec.Struct, kw_only=True):
    """Facts about an opened model.

    Args:
        family: Recognised family; empty for a checkpoint of this program.
        folder: Folder of the checkpoint.
        parameters: Number of parameters.
        bytes: Bytes of its files.
        options: Options of the model, as `config.json` holds them.
        tokens: Kind of tokenizer: `sentencepiece`, `byte-level`.
        licence: Licence stated in its files; empty for none.
        languages: Number of languages to choose from.
        source_language: BCP 47 code; empty where unknown.
        target_language: Likewise.
        notes: Parts that the conversion dropped.
        measured: Whether its files have a score.
    """

    family: str
    folder: str
    parameters: int
    bytes: int
    options: dict[str, Any]
    tokens: str
    licence: str
    languages: int
    source_language: str
    target_language: str
    notes: list[str]
    measured: bool


class Message(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One line of output: progress, report, or problem."""

    step: str = ""
    share: float = 0.0
    report: Report | None = None
    problem: str = ""
    values: dict[str, str] = {}


def main() -> None:
    """Do the job on standard input."""
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
    threading.Thread(target=_end_with_the_server, args=(Path(job.place),), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICE)
    try:
        _send(Message(report=open_model(job, lambda step, share: _send(Message(step=step, share=share)))))
    except OpenError as error:
        _send(Message(problem=error.problem, values=error.values))
    except MemoryError:
        _send(Message(problem="memory"))
    except OSError as error:
        _send(Message(problem="system", values={"reason": error.strerror or type(error).__name__}))


def _end_with_the_server(place: Path) -> None:
    while os.read(sys.stdin.fileno(), 1):  # unbuffered: a buffer's lock would be in the way of a normal end
        pass
    worker = os.getpid()
    if hasattr(os, "fork"):  # end the rest of this process before removing, so that it writes nothing anew
        if os.fork():
            os._exit(1)
        while os.getppid() == worker:
            time.sleep(0.01)
    shutil.rmtree(place, ignore_errors=True)
    os._exit(1)


def _send(message: Message) -> None:
    try:
        sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        threading.Event().wait()  # the server is gone: `_end_with_the_server` removes all files and ends this process


def open_model(job: Job, on_step: Callable[[str, float], None]) -> Report:
    """Recognise, convert where needed.

    Raises:
        OpenError: The model cannot be opened; `problem` names a label.
    """
    source = Path(job.source)
    on_step("recognise", 0.0)
    try:
        return _opened(job, source, on_step)
    except ValueError as error:  # of a conversion, a checkpoint, a vocabulary, options
        if isinstance(error, OpenError):
            raise
        raise OpenError("refused", reason=_without_paths(str(error), source, job)) from error


def _opened(job: Job, source: Path, on_step: Callable[[str, float], None]) -> Report:
    from transformer_core.conversion import ConversionError, convert
    from transformer_core.conversion.foreign_folder import ForeignFolder
    from transformer_core.conversion.language_codes import bcp47
    from transformer_core.conversion.recognise import recognise
    from transformer_core.text.vocabulary import VocabularyError

    if _is_checkpoint(source):
        return _report(_checked_checkpoint(source))
    plan = recognise(ForeignFolder(source))
    total, out = len(plan.origins), Path(job.out)
    check_room(out.parent, _float16_bytes(plan.model))
    languages = {"source_language": job.source_language or None, "target_language": job.target_language or None}
    vocabulary = plan.tokenizer.vocabulary
    try:
        asked = {
            side: name
            for side, name in languages.items()
            if name and side.replace("_", " ") in (vocabulary.source_prefix, vocabulary.target_prefix)
        }
        named = vocabulary.with_languages(asked.get("source_language"), asked.get("target_language"))
        for side in ("source", "target"):
            named.prefix(side)
    except VocabularyError as error:
        names = sorted(vocabulary.languages, key=lambda name: (bcp47(name).split("-")[0] not in _FAMILIAR, name))
        more = " …" if len(names) > _NAMED else ""
        raise OpenError("languages", family=plan.family, names=", ".join(names[:_NAMED]) + more) from error
    done = 0

    def on_weight(number: int) -> None:
        nonlocal done
        done += number
        on_step("convert", done / max(1, total))

    try:
        result = convert(source, out, **languages, on_progress=on_weight)
    except ConversionError:
        shutil.rmtree(out, ignore_errors=True)
        raise
    return _report(out, family=result.family, notes=list(result.notes))


def _is_checkpoint(folder: Path) -> bool:
    return (folder / "manifest.json").is_file() and (folder / "config.json").is_file()


def _checked_checkpoint(source: Path) -> Path:
    """Return the folder of a checkpoint of this program, with every file checked against its manifest."""
    from transformer_core.storage.manifest import Manifest

    manifest = Manifest.read(source)
    manifest.check_size(source)
    for name in manifest.files:
        manifest.check(source, name)
    return source


def _report(folder: Path, *, family: str = "", notes: list[str] | None = None) -> Report:
    from transformer_core.config import ModelConfig
    from transformer_core.paper.flops import parameters
    from transformer_core.storage.files import VOCABULARY_FILE, read_regular
    from transformer_core.storage.manifest import MAX_FOLDER_BYTES, Manifest, read_object
    from transformer_core.storage.measurements import MAX_METRIC_BYTES, METRICS_FILE
    from transformer_core.text.vocabulary import Vocabulary
    from viz_app.serving.measurements.model_card import ModelCard

    model = ModelConfig.from_dict(read_object(folder / "config.json", MAX_METRIC_BYTES)["model"])
    manifest = Manifest.read(folder)
    metrics = read_object(folder / METRICS_FILE, MAX_METRIC_BYTES) if METRICS_FILE in manifest.files else {}
    card, converted = ModelCard.from_metrics(metrics), metrics.get("converted")
    converted = converted if isinstance(converted, dict) else {}
    listed = VOCABULARY_FILE in manifest.files
    vocabulary = Vocabulary.from_bytes(read_regular(folder / VOCABULARY_FILE, _MAX_VOCABULARY)) if listed else None
    size = sum((folder / name).stat().st_size for name in manifest.files)
    assert size <= MAX_FOLDER_BYTES
    return Report(
        family=family,
        folder=str(folder),
        parameters=parameters(model),
        bytes=size,
        options=model.to_dict(),
        tokens=vocabulary.scheme if vocabulary else "sentencepiece",
        licence=str(converted.get("licence", ""))[:80],
        languages=len(vocabulary.languages) if vocabulary else 0,
        source_language=card.languages.source if card.languages else "",
        target_language=card.languages.target if card.languages else "",
        notes=notes if notes is not None else [str(each)[:200] for each in converted.get("notes", [])[:10]],
        measured=bool(card.scores or card.parsing),
    )


def _float16_bytes(model: Any) -> int:
    from transformer_core.paper.flops import parameters

    return 2 * parameters(model)


def _without_paths(problem: str, source: Path, job: Job) -> str:
    """Return a message without the server's paths, which must not leak."""
    for place in (str(source), job.out, job.place):
        problem = problem.replace(f"{place}{os.sep}", "").replace(place, job.name)
    return problem[:500]


if __name__ == "__main__":
    main()
