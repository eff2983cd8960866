"""Declaration of an analysis: texts in; arrays with their provenance, and a table, out."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import (
    Options,
    Parser,
    UsageError,
    checkpoint_names,
    load_translator,
    sentence_text,
    write_table,
)
from transformer_core.storage.csv_table import csv_bytes, escape_formula
from transformer_core.storage.files import atomic_write_bytes

if TYPE_CHECKING:
    from torch import Tensor

    from transformer_core.analysis.teacher_forced_run import TeacherForcedRun
    from transformer_core.attention_maps import Kind
    from transformer_core.translator import Translator

FORMAT_VERSION = 2
MAX_SENTENCES = 10_000
_SHOWN = 12  # rows of a ranked table on the screen
Columns = Mapping[str, Any]


@dataclass(frozen=True)
class TextOption:
    """An option for a text.

    Args:
        name: Its name, without --.
        about: Its help.
        required: Whether it has to be given.
        translation: Whether it is in the language of the translations.
        count: How many texts it takes; None for one that is no list.
    """

    name: str
    about: str
    required: bool = False
    translation: bool = False
    count: int | None = None

    def add_to(self, parser: Parser) -> None:
        """Add the option to a parser."""
        parser.add_argument(f"--{self.name}", type=sentence_text, nargs=self.count, metavar="TEXT", help=self.about)

    @property
    def columns(self) -> list[str]:
        """Names of its columns in a file."""
        return [self.name] if self.count is None else [f"{self.name}{number + 1}" for number in range(self.count)]

    def texts(self, options: Options) -> Sequence[str | None]:
        """Return the texts, a None for each that is not given."""
        value = getattr(options, self.name)
        return [value] if self.count is None else value or [None] * self.count

    def check_lengths(self, options: Options, translator: Translator) -> None:
        """Raise UsageError for a text of too many tokens."""
        vocabulary = translator.tokenizer if self.translation else translator.tokenizer.source
        for text in self.texts(options):
            if text and (tokens := len(vocabulary.encode(text))) > translator.max_tokens:
                raise UsageError(f"--{self.name} has {tokens} tokens, but at most {translator.max_tokens} are allowed")


SENTENCE = (
    TextOption("source", "The source sentence.", required=True),
    TextOption("target", "A translation to read instead of generating one.", translation=True),
)


@dataclass(frozen=True)
class Measured:
    """Result of an analysis on one sentence.

    Args:
        columns: Its table, a row for each head, token or edge.
        arrays: Tensors, NumPy arrays, sequences of text or numbers, by their names in the file.
        facts: Provenance beside the model's, the texts' and the choices.
        report: Paragraphs above the table.
        files: Other forms of the result, by the endings of their files.
        asked: What was measured on this sentence: further columns of the table of --data, with no means.
    """

    columns: Columns
    arrays: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    report: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Analysis:
    """A command that measures one sentence, or each sentence of a file.

    Args:
        name: Its name.
        measure: Model, texts (None for a translation to generate) and choices -> result. Raises UsageError or
            ValueError for choices that do not fit the model.
        options: Adds its own options to the parser.
        check: Raises UsageError for options that do not fit one another, before the model is loaded.
        choices: Model and options -> JSON of all that the numbers depend on.
        texts: Its options for texts: sentences, then as many translations.
        data: Whether it takes a file of sentences.
        endings: Further endings of its file, see `Measured.files`.
        ranked: Whether the screen shows the rows with the largest values of the first measure.
        shown: Tells by a column's name whether the screen shows it.
        lengths: Columns of `Measured.asked` with the lengths of the two sentences of a pair.
        contrasts: Columns of `Measured.asked` that must be the same in all lines, unless --contrast says which count.
        weighted: Table of --data -> further means: name -> the column and the weights of its rows.
    """

    name: str
    measure: Callable[[Translator, Sequence[Any], Mapping[str, Any]], Measured]
    options: Callable[[Parser], None] = lambda parser: None
    check: Callable[[Options], None] = lambda options: None
    choices: Callable[[Translator, Options], dict[str, Any]] = lambda translator, options: {}
    texts: tuple[TextOption, ...] = SENTENCE
    data: bool = True
    endings: tuple[str, ...] = ()
    ranked: bool = False
    shown: Callable[[str], bool] = lambda name: True
    lengths: tuple[str, ...] = ()
    contrasts: tuple[str, ...] = ()
    weighted: Callable[[Columns], Mapping[str, tuple[str, Any]]] = lambda columns: {}

    def add_options(self, parser: Parser) -> None:
        """Add the options of this command."""
        parser.add_checkpoint()
        for text in self.texts:
            text.add_to(parser)
        parser.add_output("Output file: .npz with all arrays, or .csv with the table.")
        if self.data:
            self._add_data_set(parser)
        self.options(parser)
        parser.add_machine()

    def _add_data_set(self, parser: Parser) -> None:
        columns = ", ".join(self._columns)
        parser.add_path("--data", f"Many sentences instead: a line each, of {columns}, with tabs between.")
        parser.add_number("--most", 1_000, "Lines of --data that are read, the first.", most=MAX_SENTENCES)
        parser.add_number("--workers", 1, "Processes for --data, of one thread each.", most=256)

    @property
    def _columns(self) -> list[str]:
        return [name for text in self.texts for name in text.columns]

    def run(self, options: Options) -> int:
        """Measure, write the file, print the table."""
        data = getattr(options, "data", None)
        names = [text.name for text in self.texts if any(text.texts(options))]
        if data and names:
            raise UsageError(f"--{names[0]} and --data cannot be combined")
        missing = [f"--{text.name}" for text in self.texts if text.required and text.name not in names]
        if missing and not data:
            raise UsageError(f"missing: {', '.join(missing)}{', or --data' if self.data else ''}")
        endings = (".csv",) if data else (".npz", ".csv", *self.endings)
        if options.out.suffix not in endings:
            raise UsageError(f"--out is {str(options.out)!r}, but must end with {' or '.join(endings)}")
        self.check(options)
        if data:
            from transformer_core.cli.analyse.data_set import measure_data_set

            return measure_data_set(self, self._columns, options)
        translator = load_translator(options)
        for text in self.texts:
            text.check_lengths(options, translator)
        choices = self.choices(translator, options)
        measured = self.measure(translator, [each for text in self.texts for each in text.texts(options)], choices)
        texts = {text.name: getattr(options, text.name) for text in self.texts if not text.translation}
        read = {f"{text.name}_given": text.name in names for text in self.texts if text.translation}
        known = {"format_version": FORMAT_VERSION, "program": "Headlight", **checkpoint_names(translator)}
        _write(options.out, measured, {**known, **texts, **read, **choices, **measured.facts})
        for paragraph in measured.report:
            sys.stdout.write(f"{paragraph}\n")
        columns = {name: plain(values) for name, values in measured.columns.items() if self.shown(name)}
        rows = list(zip(*columns.values(), strict=True))
        write_table(table(list(columns), largest(rows) if self.ranked else rows))
        return 0


def plain(values: Any) -> list[Any]:
    """Return the values of a column as numbers and texts of Python."""
    import numpy as np

    return list(np.asarray(values).tolist())


def largest(rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Return the rows with the largest first number, whatever its sign, the largest first."""
    first = next((number for number, cell in enumerate(rows[0]) if isinstance(cell, float)), 0) if rows else 0
    known = [row for row in rows if row[first] == row[first]]  # no NaN
    return sorted(known, key=lambda row: -abs(row[first]))[:_SHOWN]


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[list[str]]:
    """Return a table for the screen."""
    cells = [[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    return [list(header), *cells]


def head_columns(**values: Mapping[Kind, Tensor]) -> Columns:
    """Return columns with a row for each head, from (L, H) values by kind; `head` is its address, such as cross.6.8."""
    import torch

    numbers = {name: torch.cat([each.flatten() for each in by_kind.values()]) for name, by_kind in values.items()}
    names = [
        f"{kind}.{layer}.{head}"
        for kind, each in next(iter(values.values())).items()
        for layer in range(1, 1 + each.shape[0])
        for head in range(1, 1 + each.shape[1])
    ]
    return {"head": names, **{name: each.cpu() for name, each in numbers.items()}}


def run_arrays(run: TeacherForcedRun) -> dict[str, Any]:
    """Return the tokens of a run and their log-probability."""
    return {"tokens": run.tokens, "source_tokens": run.source_tokens, "log_p": run.log_p}


def run_report(run: TeacherForcedRun) -> str:
    """Return the translation of a run and its log-probability."""
    return f"{run.text}\nlog-probability {float(run.log_p.sum()):.2f} nats\n"


def picked(*names: str) -> Callable[[Translator, Options], dict[str, Any]]:
    """Return a function that returns these options as they are."""
    return lambda translator, options: {name: getattr(options, name) for name in names}


def _write(out: Path, measured: Measured, provenance: Mapping[str, Any]) -> None:
    """Write a result, whole or not at all: all arrays and, as `provenance`, JSON text; or the table."""
    import numpy as np
    import torch

    def array(values: Any) -> Any:
        return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)

    if out.suffix == ".csv":
        atomic_write_bytes(out, table_csv({name: array(values) for name, values in measured.columns.items()}))
    elif out.suffix in measured.files:
        atomic_write_bytes(out, measured.files[out.suffix].encode())
    else:
        buffer = io.BytesIO()
        text = np.array(json.dumps(provenance, ensure_ascii=False, sort_keys=True))
        arrays = {name: array(values) for name, values in measured.arrays.items()}
        np.savez_compressed(buffer, **arrays, provenance=text)
        atomic_write_bytes(out, buffer.getvalue())


def table_csv(columns: Columns) -> bytes:
    """Return a table of NumPy arrays as CSV; no text in it is a formula of a spreadsheet."""
    cells = [map(escape_formula, each.tolist()) if each.dtype.kind == "U" else each for each in columns.values()]
    return csv_bytes(list(columns), zip(*cells, strict=True))
