"""The scores in the model card; all else in it stays as it was written."""

from __future__ import annotations

from transformer_core.cli.builders import Builder, Inputs, SkippedError
from transformer_core.cli.model_card import with_scores

_FILE = "README.md"


def _build(inputs: Inputs) -> dict[str, bytes]:
    scores = inputs.metrics.get("scores", {})
    if not scores:
        raise SkippedError("the checkpoint has no scores")
    try:
        card = (inputs.checkpoint / _FILE).read_text(encoding="utf-8")
        return {_FILE: with_scores(card, scores).encode()}
    except (OSError, ValueError) as error:
        raise SkippedError(f"{_FILE}: {error}") from error


BUILDER = Builder(
    name="card",
    about="the table of scores in README.md",
    needs=(),
    files=(_FILE,),
    build=_build,
    beside=True,
)
