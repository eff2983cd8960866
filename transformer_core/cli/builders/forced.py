"""How a model reads given translations with the mask of its decoder and without, in nats per token."""

from __future__ import annotations

import math

from transformer_core.cli.builders import Builder, Inputs
from transformer_core.cli.builders.scores import set_name
from transformer_core.derived import json_file


def _build(inputs: Inputs) -> dict[str, bytes]:
    from transformer_core.evaluation import TestSet, perplexity

    found = {}
    for spec in inputs.options.valid:
        test = TestSet.read(spec)
        pairs = [(source, first) for source, (first, *_) in zip(test.sources, test.references, strict=True)]
        found[set_name(spec)] = {
            name: math.log(perplexity(inputs.translator.with_mask(causal), pairs, inputs.options.batch).value)
            for name, causal in (("masked", True), ("unmasked", False))
        }
    return {"forced.json": json_file({**inputs.metrics.get("forced", {}), **found})}


BUILDER = Builder(
    name="forced",
    about="negative log-likelihood with and without the decoder's mask",
    needs=(("valid",),),
    files=("forced.json",),
    build=_build,
)
