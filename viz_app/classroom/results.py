"""Answers of classes as a table to download."""

from __future__ import annotations

import csv
import io

from viz_app.classroom.questions import option_titles, question_title
from viz_app.serving.classes.classrooms import PollResult
from viz_app.text import Texts


def results_table(results: tuple[PollResult, ...], t: Texts) -> bytes:
    """Return the answers as CSV, UTF-8: a line for each option of each poll."""
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow([t(f"classroom.column_{name}") for name in ("poll", "question", "option", "answers", "right")])
    for number, result in enumerate(results, start=1):
        title = question_title(result.question, t)
        for option, words in enumerate(option_titles(result.question, t)):
            right = "x" if result.question.right == option else ""
            table.writerow([number, _cell(title), _cell(words), result.counts.get(option, 0), right])
    return b"\xef\xbb\xbf" + file.getvalue().encode(errors="replace")  # the mark lets Excel read Korean


def _cell(text: str) -> str:
    """Escape a text that a spreadsheet would take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text
