"""Test whether the model gives the correct translation a higher probability than incorrect ones.

Nothing is translated: each candidate gets its log-probability, and a tie counts as incorrect. Shorter
texts have an advantage.

FILE has one question per line, separated by tabs:

  lingeval   phenomenon, source, correct translation, incorrect translation
  contracat  template, source, translation with er, with sie, with es, the correct one (m, f or n);
             questions without exactly one correct answer are skipped

Prints a table with the share of correct answers by phenomenon, then one line of JSON.

Example:
  python -m transformer_core analyse contrast --checkpoint checkpoints/en-de --test pairs.tsv
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import (
    Options,
    Parser,
    checkpoint_names,
    load_translator,
    write_summary,
    write_table,
)

if TYPE_CHECKING:
    from transformer_core.analysis.contrast import Share

FORM_NAMES = ("lingeval", "contracat")


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_checkpoint()
    parser.add_path("--test", "A .tsv, .tsv.xz or .tsv.gz.", required=True)
    parser.add_choice("--form", FORM_NAMES, "Format of FILE.", default=FORM_NAMES[0])
    parser.add_machine()


def run(options: Options) -> int:
    """Measure the answers to all questions of a file."""
    from transformer_core.analysis.contrast import FORMS, shares
    from transformer_core.data import DataError
    from transformer_core.progress import tracked

    contrasts = list(FORMS[options.form](options.test))
    if not contrasts:
        raise DataError(f"{options.test} has no questions")
    translator = load_translator(options)
    by_group = shares(translator, contrasts, lambda batches: tracked(batches, unit="batch"))
    total = _total(by_group)
    write_table(_rows({**by_group, "all": total}))
    summary = {
        **report(by_group),
        "left_out": total.left_out,
        "form": options.form,
        "test": options.test,
        **checkpoint_names(translator),
    }
    write_summary(summary)
    return 0


def report(groups: Mapping[str, Share]) -> dict[str, Any]:
    """Return the share of correct answers, of all questions and of each group, for a checkpoint's metrics."""
    total = _total(groups)
    return {
        "right": _portion(total.right, total.asked),
        "groups": {
            group: {"right": _portion(each.right, each.asked), "asked": each.asked} for group, each in groups.items()
        },
        "asked": total.asked,
    }


def _total(groups: Mapping[str, Share]) -> Share:
    from transformer_core.analysis.contrast import Share

    columns = [(share.right, share.asked, share.chance, share.left_out) for share in groups.values()]
    right, asked, chance, left_out = (sum(column) for column in zip(*columns, strict=True))
    return Share(int(right), int(asked), chance, int(left_out))


def _portion(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _rows(groups: Mapping[str, Share]) -> Iterator[tuple[str, ...]]:
    yield "phenomenon", "items", "correct %", "chance %", "skipped"
    for group, share in groups.items():
        right, chance = _portion(share.right, share.asked), _portion(share.chance, share.asked)
        yield group, str(share.asked), _percent(right), _percent(chance), str(share.left_out)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
