"""contrast: right and wrong translations in; how often the model prefers the right one out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Parser, UsageError, load_translator, write_summary, write_table

if TYPE_CHECKING:
    from transformer_core.analysis.contrast import Share

FORM_NAMES = ("lingeval", "contracat")


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "contrast",
        usage="--checkpoint DIR --test FILE [--form lingeval|contracat]",
        description=(
            "Test whether the model gives the correct translation a higher probability than incorrect ones.\n"
            "Nothing is translated: each candidate gets its log-probability, and a tie counts as incorrect. Shorter\n"
            "texts have an advantage.\n\n"
            "FILE has one question per line, separated by tabs:\n\n"
            "  lingeval   phenomenon, source, correct translation, incorrect translation\n"
            "  contracat  template, source, translation with er, with sie, with es, the correct one (m, f or n);\n"
            "             questions without exactly one correct answer are skipped\n\n"
            "Prints a table with the share of correct answers by phenomenon, then one line of JSON."
        ),
        example="  python -m transformer_core contrast --checkpoint checkpoints/en-de --test pairs.tsv",
    )
    result.add_checkpoint()
    result.add_path("--test", "A .tsv, .tsv.xz or .tsv.gz.", required=True)
    form = "|".join(FORM_NAMES)
    result.add_argument("--form", type=str, default=FORM_NAMES[0], metavar=form, help="Format of FILE.")
    result.add_machine()
    return result


def run(arguments: Sequence[str]) -> int:
    """Ask all questions of a file."""
    options = parser().options(arguments)
    if options.form not in FORM_NAMES:
        raise UsageError(f"--form is {options.form!r}, but must be one of {', '.join(FORM_NAMES)}")

    from transformer_core.analysis.contrast import FORMS, shares
    from transformer_core.data import DataError
    from transformer_core.progress import tracked

    contrasts = list(FORMS[options.form](options.test))
    if not contrasts:
        raise DataError(f"{options.test} has no questions")
    translator = load_translator(options)
    found = shares(translator, contrasts, lambda batches: tracked(batches, unit="batch"))
    total = _total(found)
    write_table(_rows({**found, "all": total}))
    summary = {
        **report(found),
        "left_out": total.left_out,
        "form": options.form,
        "test": options.test,
        "checkpoint": options.checkpoint,
        "checkpoint_hash": translator.checkpoint_hash,
    }
    write_summary(summary)
    return 0


def report(found: Mapping[str, Share]) -> dict[str, Any]:
    """What a checkpoint's metrics hold: the share of right answers, of all questions and of each group."""
    total = _total(found)
    return {
        "right": _portion(total.right, total.asked),
        "groups": {
            group: {"right": _portion(each.right, each.asked), "asked": each.asked} for group, each in found.items()
        },
        "asked": total.asked,
    }


def _total(found: Mapping[str, Share]) -> Share:
    from transformer_core.analysis.contrast import Share

    columns = [(share.right, share.asked, share.chance, share.left_out) for share in found.values()]
    right, asked, chance, left_out = (sum(column) for column in zip(*columns, strict=True))
    return Share(int(right), int(asked), chance, int(left_out))


def _portion(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _rows(found: Mapping[str, Share]) -> Iterator[tuple[str, ...]]:
    yield "phenomenon", "items", "correct %", "chance %", "skipped"
    for group, share in found.items():
        right, chance = _portion(share.right, share.asked), _portion(share.chance, share.asked)
        yield group, str(share.asked), _percent(right), _percent(chance), str(share.left_out)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
