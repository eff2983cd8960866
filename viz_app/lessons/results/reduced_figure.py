"""Table 3 for print: the paper's models and ours of the same rows, with what luck alone may do."""

from __future__ import annotations

import math
from typing import Any

from transformer_core.paper.table3 import Results
from viz_app.figures import Dots, DotsFigure
from viz_app.lessons.context import LessonContext
from viz_app.lessons.results.paper_results import TABLE_3, Variation
from viz_app.lessons.results.reduced_table import Measure, parameter_millions, reduced_result

_ROWS = ("A", "B", "C", "D", "E", "big", "all")
_UNITS = {"bleu": "BLEU", "perplexity": "PPL"}
_DIGITS = {"bleu": 1, "perplexity": 2}


def table_3(context: LessonContext, results: Results | None) -> DotsFigure:
    """The rows and the measure that the scene shows; without our numbers the paper's alone."""
    t = context.t
    row = context.state.choice("row", "A", _ROWS)
    measure = context.state.choice("measure", "bleu", ("bleu", "perplexity", "parameters"))
    lines = [line for line in TABLE_3 if row == "all" or line.row in ("base", row)]
    if measure == "parameters":
        columns, notes = _parameters(lines, results, context), [t("lesson_results.note_base")]
    else:
        columns = _columns(lines, results, "bleu" if measure == "bleu" else "perplexity", context)
        notes = [t("lesson_results.note_base"), *([t("lesson_results.note_luck")] if results else [])]
    return DotsFigure(
        row_labels=[_name(line, context) for line in lines],
        columns=columns,
        row_title=t("lesson_results.change"),
        notes=notes,
        language=t.language,
    )


def _name(line: Variation, context: LessonContext) -> str:
    if line.preset == "table3-e-learned":
        return context.t("lesson_results.learned_positions")
    return line.change or line.row


def _columns(lines: list[Variation], results: Results | None, measure: Measure, context: LessonContext) -> list[Dots]:
    t = context.t
    look: dict[str, Any] = {
        "axis": f"{_UNITS[measure]} ({t('lesson_results.better')} \u2192)",
        "digits": _DIGITS[measure],
        "log": measure == "perplexity",
        "falling": measure == "perplexity",
    }
    values = [float(getattr(line, measure)) for line in lines]
    paper = Dots(values=values, title=t("lesson_results.of_paper"), base=values[0], **look)
    if not results:
        return [paper]
    found = [reduced_result(results, line.preset, measure) for line in lines]
    bands = [each.band if each and each.band else (math.nan, math.nan) for each in found]
    small = Dots(
        values=[each.mean if each else math.nan for each in found],
        title=_title(results, context),
        base=found[0].mean if found[0] else None,
        low=[low for low, _ in bands],
        high=[high for _, high in bands],
        hollow=[bool(each and each.verdict == "noise") for each in found],
        **look,
    )
    return [paper, small]


def _parameters(lines: list[Variation], results: Results | None, context: LessonContext) -> list[Dots]:
    t = context.t
    values = [parameter_millions(line.preset)[1] for line in lines]
    axis = t("lesson_results.millions")
    paper = Dots(values=values, title=t("lesson_results.of_paper"), axis=axis, base=values[0], digits=1, log=True)
    if not results:
        return [paper]
    sizes = {run.row: run.parameters / 1e6 for run in results.runs}
    small = Dots(
        values=[sizes.get(line.preset, math.nan) for line in lines],
        title=_title(results, context),
        axis=axis,
        base=sizes["base"],
        digits=3,
        log=True,
    )
    return [paper, small]


def _title(results: Results, context: LessonContext) -> str:
    base, updates = results.about["base"], results.about["training"]["steps"]
    values = {"width": base["d_model"], "layers": base["num_layers"], "updates": f"{updates:,}"}
    return context.t("lesson_results.of_ours_small", **values)
