"""Source attribution: which source words, and which words already written, carry each written word.

`attribute` is the way in. `methods` says what is asked and answered; `layers`, `mixing`, `gradients` and
`leave_one_out` compute; `sublayer` takes an attention sub-layer apart for norms and ALTI; `agreement` compares.
"""

from transformer_core.analysis.attribution.agreement import (
    Faithfulness,
    agreement,
    faithfulness,
    kendall_tau_b,
    mean_agreement,
)
from transformer_core.analysis.attribution.attribute import STEPS, attribute, attribute_run, check_choice
from transformer_core.analysis.attribution.methods import (
    METHODS,
    OF_HEADS,
    OF_LAYERS,
    OF_TOKENS,
    POINTS,
    SHARES,
    SIGNED,
    Attribution,
    Contrast,
    Method,
    points_of,
)
from transformer_core.analysis.attribution.mixing import cross_contributions

__all__ = [
    "METHODS",
    "OF_HEADS",
    "OF_LAYERS",
    "OF_TOKENS",
    "POINTS",
    "SHARES",
    "SIGNED",
    "STEPS",
    "Attribution",
    "Contrast",
    "Faithfulness",
    "Method",
    "agreement",
    "attribute",
    "attribute_run",
    "check_choice",
    "cross_contributions",
    "faithfulness",
    "kendall_tau_b",
    "mean_agreement",
    "points_of",
]
