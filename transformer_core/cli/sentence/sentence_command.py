"""Skeleton of the commands on sentences: texts in; arrays with their provenance, and a table, out."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from transformer_core.cli.sentence.data_set import MAX_SENTENCES, DataSet, measure_data_set
from transformer_core.storage.files import atomic_write_bytes

if TYPE_CHECKING:
    from transformer_core.translator import Translator

FORMAT_VERSION = 1


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

    def texts(self, options: Options) -> Sequence[str]:
        """Return the texts that were given."""
        given = getattr(options, self.name)
        return [] if given is None else [given] if self.count is None else given

    def check_lengths(self, options: Options, translator: Translator) -> None:
        """Raise UsageError for a text of too many tokens."""
        vocabulary = translator.tokenizer if self.translation else translator.tokenizer.source
        for text in self.texts(options):
            if (tokens := len(vocabulary.encode(text))) > translator.max_tokens:
                raise UsageError(f"--{self.name} has {tokens} tokens, but at most {translator.max_tokens} are allowed")


SENTENCE = (
    TextOption("source", "The source sentence.", required=True),
    TextOption("target", "A translation to read instead of generating one.", translation=True),
)


@dataclass(frozen=True)
class Measurement:
    """Result of a command on one sentence.

    Args:
        arrays: Tensors, NumPy arrays, sequences of text or numbers, by their names in the file.
        facts: Provenance beside the model's.
        report: What is printed: paragraphs, and tables as rows of cells.
    """

    arrays: Mapping[str, Any]
    facts: Mapping[str, Any]
    report: Sequence[str | Sequence[Sequence[str]]] = ()


@dataclass(frozen=True)
class SentenceCommand:
    """A command that measures one sentence and writes an .npz file, or the sentences of a file and writes a table.

    Args:
        name: Its name.
        measure: Model and options -> result; raises UsageError or ValueError for options that do not fit the model.
        options: Adds its own options to the parser.
        check: Raises UsageError for options that do not fit one another, before the model is loaded.
        texts: Its options for texts.
        data_set: How it measures a file of sentences; None for a command that takes one sentence.
    """

    name: str
    measure: Callable[[Translator, Options], Measurement]
    options: Callable[[Parser], None] = lambda parser: None
    check: Callable[[Options], None] = lambda options: None
    texts: tuple[TextOption, ...] = SENTENCE
    data_set: DataSet | None = None

    def add_options(self, parser: Parser) -> None:
        """Add the options of this command."""
        parser.add_checkpoint()
        for text in self.texts:
            text.add_to(parser)
        if self.data_set is None:
            parser.add_output("Output file, ending with .npz.", ".npz")
        else:
            parser.add_output("Output file: .npz of a sentence, .csv of --data.")
            self._add_data_set(parser)
        self.options(parser)
        parser.add_machine()

    def _add_data_set(self, parser: Parser) -> None:
        columns = ", ".join(self._columns)
        parser.add_path("--data", f"Many sentences instead: a line each, of {columns}, with tabs between.")
        about = "Lines of --data that count, by tokens<10, source~REGEX, or 3=news (third column); all must hold."
        parser.add_argument("--where", nargs="+", default=[], metavar="TEST", help=about)
        parser.add_number("--most", 1_000, "Lines of --data that count, the first.", most=MAX_SENTENCES)
        parser.add_number("--workers", 1, "Processes for --data, of one thread each.", most=256)

    @property
    def _columns(self) -> list[str]:
        return [name for text in self.texts for name in text.columns]

    def run(self, options: Options) -> int:
        """Measure, write the file, print the report."""
        data = getattr(options, "data", None)
        given = [text.name for text in self.texts if text.texts(options)]
        if data and given:
            raise UsageError(f"--{given[0]} and --data cannot be combined")
        missing = [f"--{text.name}" for text in self.texts if text.required and text.name not in given]
        if missing and not data:
            raise UsageError(f"missing: {', '.join(missing)}{', or --data' if self.data_set else ''}")
        if not data and getattr(options, "where", None):
            raise UsageError("--where needs --data")
        ending = ".csv" if data else ".npz"
        if not options.out.name.endswith(ending):
            raise UsageError(f"--out is {str(options.out)!r}, but must end with {ending}")
        self.check(options)
        if data and self.data_set:
            return measure_data_set(self.name, self.data_set, self._columns, options)
        translator = load_translator(options)
        for text in self.texts:
            text.check_lengths(options, translator)
        found = self.measure(translator, options)
        provenance = {
            "format_version": FORMAT_VERSION,
            "program": "Headlight",
            **checkpoint_names(translator),
            **found.facts,
        }
        _write_npz(options.out, found.arrays, provenance)
        for part in found.report:
            if isinstance(part, str):
                sys.stdout.write(f"{part}\n")
            else:
                write_table(part)
        return 0


def sentence_facts(options: Options, target: str, **chosen: Any) -> dict[str, Any]:
    """Return the provenance of a sentence, its translation and the options of the measurement."""
    given = options.target is not None
    return {"source": options.source, "target": target, "target_given": given, **chosen}


def _write_npz(out: Path, arrays: Mapping[str, Any], provenance: Mapping[str, Any]) -> None:
    """Write arrays and, as `provenance`, JSON text; whole or not at all."""
    import numpy as np
    import torch

    def array(values: Any) -> Any:
        return values.cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)

    buffer = io.BytesIO()
    text = json.dumps(provenance, ensure_ascii=False, sort_keys=True)
    np.savez_compressed(buffer, **{name: array(values) for name, values in arrays.items()}, provenance=np.array(text))
    atomic_write_bytes(out, buffer.getvalue())
