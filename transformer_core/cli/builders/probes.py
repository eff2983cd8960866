"""How often the model finds a right translation likelier than a wrong one, by test and phenomenon."""

from __future__ import annotations

from transformer_core.cli.builders import Builder, Inputs, SkippedError
from transformer_core.cli.contrast import FORM_NAMES, report
from transformer_core.derived import json_file


def _build(inputs: Inputs) -> dict[str, bytes]:
    from transformer_core.analysis.contrast import FORMS, shares
    from transformer_core.progress import tracked

    found = {}
    for form in FORM_NAMES:
        if path := getattr(inputs.options, form):
            contrasts = list(FORMS[form](path))
            if not contrasts:
                raise SkippedError(f"{path} holds no questions")
            found[form] = report(shares(inputs.translator, contrasts, lambda some: tracked(some, unit="batch")))
    return {"probes.json": json_file({**inputs.metrics.get("probes", {}), **found})}


BUILDER = Builder(
    name="probes",
    about="share of correct answers to contrastive questions",
    needs=(FORM_NAMES,),
    files=("probes.json",),
    build=_build,
)
