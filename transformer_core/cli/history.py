"""history: a training that kept moments in; the attention of a few sentences at each of them out."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_core.cli.options import (
    Parser,
    UsageError,
    add_machine,
    check_at_least,
    existing,
    existing_text,
    select_device,
)
from transformer_core.cli.run_settings import RunSettings

if TYPE_CHECKING:
    from transformer_core.analysis.looking_back import Question
    from transformer_core.history import History

log = logging.getLogger(__name__)


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "history",
        usage="DIR --sentences FILE --out DIR [--valid FILE] [--gold FILE] [--force]",
        description=(
            "Write how the heads of a model found their jobs: the attention of a few sentences at every moment that\n"
            "a training kept (train --training.moments 14), with its loss, and BLEU and alignment error if there is\n"
            "something to measure them on. At most 3 MB, one byte a weight.\n\n"
            "FILE has one sentence a line, or a sentence and a translation with a tab between. Where there is no\n"
            "translation, the model of the last moment writes it; at every moment the same one is read."
        ),
        example="  python -m transformer_core history run --sentences checkpoints/sentences.txt --out history",
    )
    result.add_argument("run", type=str, metavar="DIR", help="Folder of a training, as `train --out` wrote it.")
    result.add_argument("--sentences", type=str, required=True, metavar="FILE", help="A text file, UTF-8.")
    result.add_argument("--out", type=str, required=True, metavar="DIR", help="Folder to write.")
    result.add_argument("--valid", type=str, metavar="FILE", help="Parallel text to measure BLEU and nll on.")
    result.add_argument(
        "--valid-sentences", type=int, default=500, metavar="N", help="Lines of it that are used, the first."
    )
    result.add_argument("--gold", type=str, metavar="FILE", help="Links made by hand, as `align` reads.")
    result.add_argument("--force", action="store_true", help="Replace a history that is there.")
    add_machine(result)
    return result


def run(arguments: Sequence[str]) -> int:
    """Write the history of a training."""
    options = parser().options(arguments)
    check_at_least("--valid-sentences", options.valid_sentences, 1)
    folder, out = existing("DIR", options.run, folder=True), Path(options.out)
    questions = read_questions("--sentences", options.sentences)
    if options.valid:
        existing_text("--valid", options.valid)
    if options.gold:
        existing("--gold", options.gold)
    _check_out(out, options.force)
    device = select_device(options.device, options.threads)
    history = look_back(
        folder,
        RunSettings.load(folder),
        questions,
        valid=options.valid,
        valid_sentences=options.valid_sentences,
        gold=options.gold,
        device=device,
    )
    history.save(out)
    size = sum(file.stat().st_size for file in out.iterdir())
    told = {"history": str(out), "moments": list(history.steps), "sentences": len(history.sentences), "bytes": size}
    sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
    return 0


def read_questions(option: str, path: str) -> list[Question]:
    """The sentences of a file. Raises UsageError when it has none, or a line of three columns."""
    from transformer_core.analysis.looking_back import Question

    try:
        lines = existing(option, path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise UsageError(f"{option}: {path} is no UTF-8 text") from error
    questions = []
    for number, line in enumerate(lines, start=1):
        columns = [column.strip() for column in line.split("\t")]
        if len(columns) > 2 or (len(columns) == 2 and not all(columns)):
            raise UsageError(f"{option}: {path}, line {number} must hold a sentence, or a sentence and its translation")
        if columns[0]:
            questions.append(Question(*columns))
    if not questions:
        raise UsageError(f"{option}: {path} holds no sentence")
    return questions


def look_back(
    folder: Path,
    settings: RunSettings,
    questions: Sequence[Question],
    *,
    valid: str | None,
    valid_sentences: int,
    gold: str | None,
    device: str,
) -> History:
    """The history of a run. Raises UsageError when it kept no moments, or has no journal."""
    from transformer_core.analysis.alignment import read_gold
    from transformer_core.analysis.looking_back import LookingBack
    from transformer_core.config import DecodingConfig
    from transformer_core.files import TOKENIZER_FILE
    from transformer_core.presets import PRESETS
    from transformer_core.progress import tracked
    from transformer_core.tokenizer import Tokenizer
    from transformer_core.training.journal import course
    from transformer_core.training.moments import moments_of
    from transformer_core.training.validation import ValidationSet

    moments = moments_of(folder)
    if not moments:
        raise UsageError(f"{folder} kept no moments; train with --training.moments 14, say")
    try:
        updates = course(folder)["updates"]
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{folder} has no readable journal: {error}") from error
    decoding = PRESETS[settings.preset].decoding if settings.preset in PRESETS else DecodingConfig()
    looking = LookingBack(moments, settings.model, Tokenizer.load(folder / TOKENIZER_FILE), decoding, device)
    data = None
    if valid:
        everything = ValidationSet.read(valid)
        data = ValidationSet(everything.name, everything.pairs[:valid_sentences])
    links = (Path(gold).name.split(".")[0], list(read_gold(gold))) if gold else None
    return looking.history(
        questions,
        facts={"preset": settings.preset, "files": settings.corpus.get("files", [])},
        course=updates,
        valid=data,
        gold=links,
        progress=lambda steps: tracked(steps, unit="moment"),
    )


def _check_out(out: Path, force: bool) -> None:
    """A folder is replaced only if it is a history, and only if asked for."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not (out / "history.json").is_file() or (out / "manifest.json").exists():
        raise UsageError(f"--out: {out} holds something else than a history; name a new folder")
    if not force:
        raise UsageError(f"--out: {out} is there already; add --force to replace it, or name a new folder")
