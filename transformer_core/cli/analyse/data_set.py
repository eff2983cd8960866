"""An analysis of a file of sentences: a table with a row for each token or head, and means over sentences."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import Analysis, Columns, largest, table, table_csv
from transformer_core.cli.arguments import (
    Options,
    UsageError,
    check_new_file,
    checkpoint_names,
    counted,
    load_translator,
    write_table,
)
from transformer_core.storage.csv_table import csv_bytes
from transformer_core.storage.files import atomic_write_bytes, exclusive, sha256, write_json

if TYPE_CHECKING:
    from transformer_core.atlas.resumable_map import Results
    from transformer_core.translator import Translator

MAX_ROWS = 5_000_000  # a row for each head of each sentence
_CONTRASTS = 8  # named in a message
_ASKED = ("line", "position", "metric_clean", "metric_corrupted", "tokens_clean", "tokens_corrupted")  # have no mean
GROUP = 20  # sentences of like length, whose translations are one batch
log = logging.getLogger(__name__)


def measure_data_set(analysis: Analysis, names: Sequence[str], options: Options) -> int:
    """Measure all sentences of --data; write the table, its means and its provenance; print the means."""
    from transformer_core.atlas.resumable_map import ResumableMap, cut, joined
    from transformer_core.cli.analyse.data_file import read_sentences

    out, data = options.out, Path(options.data)
    means_file, record = out.with_suffix(".means.csv"), out.with_name(f"{out.name}.json")
    for path in (means_file, record):
        check_new_file("--out", path, options.force)
    translator = load_translator(options)
    choices = analysis.choices(translator, options)
    sentences, skipped = read_sentences(options, names, translator)
    if 3 * translator.config.num_layers * translator.config.num_heads * len(sentences) > MAX_ROWS:
        raise UsageError(f"--most: heads times sentences must be at most {MAX_ROWS:,}; take fewer sentences")
    runner = ResumableMap(
        checkpoint=Path(options.checkpoint).resolve(),
        weights_hash=translator.checkpoint_hash,
        folder=out.with_name(f".{out.name}.work"),
        device=str(translator.model.embedding.weight.device),
        workers=options.workers,
    )
    runner.folder.mkdir(exist_ok=True)
    with exclusive(runner.folder, waits=False):
        groups = [[analysis.name, choices, group] for group in cut(sentences, GROUP)]
        results = [each for each in runner.run(measure_group, groups, f"sentences x {GROUP}") if len(each["line"])]
        if not results:
            runner.clear()
            raise UsageError(f"--data: {data} has no sentence that can be measured")
        columns: Results = {name: joined(results, name) for name in results[0]}
        order = columns["line"].argsort(kind="stable")
        columns = {name: values[order] for name, values in columns.items()}
        measured = len(set(columns["line"].tolist()))
        counts: dict[str, Any] = {"not_comparable": len(sentences) - measured, "unreadable": skipped}
        if analysis.contrasts:
            columns, counts["contrasts"] = _of_contrasts(columns, analysis.contrasts, options.contrast)
        if analysis.lengths:
            first_length, second_length = (columns[name] for name in analysis.lengths)
            counts["unequal_lengths"] = len(set(columns["line"][first_length != second_length].tolist()))
        means = mean_rows(columns, analysis.weighted(columns))
        counts["sentences"] = len(set(columns["line"].tolist()))
        facts = {"data": data.name, "sha256": sha256(data), "choices": choices, **counts}
        atomic_write_bytes(out, table_csv(columns))
        hashed = ([*row, translator.checkpoint_hash] for row in means[1:])
        atomic_write_bytes(means_file, csv_bytes([*means[0], "weights_hash"], hashed))
        write_json(record, {"program": "Headlight", "command": analysis.name, **checkpoint_names(translator), **facts})
        runner.clear()
    header, *rows = means
    first = [row for row in rows if row[1] == rows[0][1]]  # of the first measure
    write_table(table(header, largest(first) if analysis.ranked else rows))
    skipped_words = f"skipped {counted(skipped, 'unreadable line')} and {len(sentences) - measured} not comparable"
    log.info("%s: %s; %s", out, counted(counts["sentences"], "sentence"), skipped_words)
    if len(counts.get("contrasts", ())) > 1:
        log.warning("these means mix %s; --contrast takes some", _contrast_counts(counts["contrasts"]))
    if unequal := counts.get("unequal_lengths"):
        log.warning(
            "%s of unequal length; their encoder heads are not patched where they differ", counted(unequal, "pair")
        )
    return 0


def measure_group(translator: Translator, item: Any) -> Results:
    """Measure some sentences: [command, choices, [[line, texts], ...]] -> columns of all of their rows."""
    import numpy as np

    from transformer_core.analysis.minimal_pairs import PatchingError
    from transformer_core.atlas.resumable_map import joined

    command, choices, group = item
    analysis: Analysis = import_module(f"transformer_core.cli.analyse.{command.replace('-', '_')}").ANALYSIS
    lines, texts = [line for line, _ in group], [list(each) for _, each in group]
    half = len(texts[0]) // 2
    missing = [(each, side) for each in texts for side in range(half) if each[half + side] is None]
    translations = translator.translate_batch([each[side] for each, side in missing])
    for (each, side), translation in zip(missing, translations, strict=True):
        each[half + side] = translation
    tables: list[Results] = []
    for line, each in zip(lines, texts, strict=True):
        try:
            measured = analysis.measure(translator, each, choices)
        except PatchingError:  # equal translations, or hardly a difference
            continue
        columns = {name: np.asarray(values) for name, values in measured.columns.items()}
        rows = len(next(iter(columns.values())))
        asked = {name: np.full(rows, value) for name, value in measured.asked.items()}
        tables.append({"line": np.full(rows, line), **asked, **columns})
    return {name: joined(tables, name) for name in tables[0]} if tables else {"line": np.empty(0, np.int64)}


def _of_contrasts(columns: Results, names: Sequence[str], contrasts: Sequence[str]) -> tuple[Results, dict[str, int]]:
    """Return the rows of the chosen contrasts, all if none is chosen, and the number of lines of each, most first.

    Raises UsageError for a contrast that no line has.
    """
    import numpy as np

    rows = np.array(["|".join(row) for row in zip(*(columns[name].tolist() for name in names), strict=True)])
    of_line = dict(zip(columns["line"].tolist(), rows.tolist(), strict=True))
    counts = dict(Counter(of_line.values()).most_common())
    if unknown := [each for each in contrasts if each not in counts]:
        raise UsageError(f"--contrast: no line has {', '.join(unknown)}; there are {_contrast_counts(counts)}")
    mask = np.isin(rows, list(contrasts or counts))
    return (
        {name: values[mask] for name, values in columns.items()},
        {name: count for name, count in counts.items() if not contrasts or name in contrasts},
    )


def _contrast_counts(counts: Mapping[str, int]) -> str:
    names = [f"{name} {count}" for name, count in counts.items()]
    return ", ".join([*names[:_CONTRASTS], *([f"{len(names) - _CONTRASTS} others"] if len(names) > _CONTRASTS else [])])


def mean_rows(table: Columns, weighted: Mapping[str, tuple[str, Any]] | None = None) -> list[list[Any]]:
    """Return the mean of each column of numbers over its rows, of each head where rows are heads, below a header.

    95 % intervals as in the atlas: the bootstrap draws sentences, each with all of its rows. `weighted` adds means of a
    column with weights of its rows, by their names.
    """
    import numpy as np

    from transformer_core.atlas.statistics import Bootstrap

    lines, sentence = np.unique(table["line"], return_inverse=True)
    head = ["head"] if "head" in table else []
    keys = [(key,) for key in table["head"].tolist()] if head else [()] * len(sentence)
    groups = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    shape = len(lines), len(groups)
    place = sentence * shape[1] + [groups[key] for key in keys]
    rows: list[list[Any]] = [[*head, "measure", "mean", "low", "high", "sentences"]]
    drawing = Bootstrap(len(lines))
    plain = {
        name: (values, np.ones(len(values)))
        for name, values in table.items()
        if name not in _ASKED and values.dtype.kind in "fi"
    }
    more = {name: (table[column], weights) for name, (column, weights) in (weighted or {}).items()}
    for name, (values, weights) in (plain | more).items():
        finite = np.isfinite(values)
        sums, totals, counts = (
            np.bincount(place[finite], each, np.prod(shape)).reshape(shape)
            for each in ((values * weights)[finite], weights[finite], None)
        )
        estimate = drawing.ratio(sums, totals)
        cells = (
            estimate.value.tolist(),
            estimate.low.tolist(),
            estimate.high.tolist(),
            (counts > 0).sum(axis=0).tolist(),
        )
        rows += [[*key, name, *row] for key, row in zip(groups, zip(*cells, strict=True), strict=True)]
    return rows
