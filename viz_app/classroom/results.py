"""Answers of classes as a table to download."""

from __future__ import annotations

import unicodedata

from transformer_core.storage.csv_table import csv_bytes, escape_formula
from viz_app.classroom.questions import option_titles, question_title
from viz_app.serving.classes.polls import PollResult
from viz_app.text import Texts

_REORDERING = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))  # controls of direction


def results_table(results: tuple[PollResult, ...], t: Texts) -> bytes:
    """Return the answers as CSV, UTF-8: a line for each option of each poll."""
    header = [t(f"classroom.column_{name}") for name in ("poll", "question", "option", "answers", "right")]
    rows = []
    for number, result in enumerate(results, start=1):
        title = question_title(result.question, t)
        for option, words in enumerate(option_titles(result.question, t)):
            right = "x" if result.question.right == option else ""
            rows.append([number, _cell(title), _cell(words), result.counts.get(option, 0), right])
    return csv_bytes(header, rows)


def _cell(text: str) -> str:
    """Return a text without controls of direction, which no spreadsheet program runs as a formula."""
    plain = "".join(letter for letter in text if unicodedata.bidirectional(letter) not in _REORDERING)
    return escape_formula(plain)
