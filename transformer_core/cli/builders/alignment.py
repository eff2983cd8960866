"""The alignment error rate of every encoder-decoder head."""

from __future__ import annotations

from transformer_core.cli.builders import Builder, Inputs, SkippedError
from transformer_core.derived import json_file


def _build(inputs: Inputs) -> dict[str, bytes]:
    from transformer_core.analysis.alignment import alignment_report, head_alignment_errors, read_gold
    from transformer_core.progress import tracked

    gold = list(read_gold(inputs.options.gold))
    if not gold:
        raise SkippedError(f"{inputs.options.gold} holds no sentences")
    errors = head_alignment_errors(inputs.translator, gold, lambda pairs: tracked(pairs, unit="sentence"))
    return {"alignment.json": json_file({**alignment_report(errors), "sentences": len(gold)})}


BUILDER = Builder(
    name="alignment",
    about="alignment error rate of every encoder-decoder head",
    needs=(("gold",),),
    files=("alignment.json",),
    build=_build,
)
