"""Source attribution: the contribution of each source word and each earlier target word to every generated word.

Start with `attribute`. `methods` has its input and output; `layers`, `mixing`, `gradients` and `leave_one_out` compute;
`sublayer` decomposes an attention sub-layer for norms and ALTI; `agreement` compares methods.
"""

from transformer_core.analysis.attribution.agreement import (
    Faithfulness,
    agreement,
    faithfulness,
    kendall_tau_b,
    mean_agreement,
)
from transformer_core.analysis.attribution.attribute import STEPS, attribute, check_choice
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
    "check_choice",
    "cross_contributions",
    "faithfulness",
    "kendall_tau_b",
    "mean_agreement",
    "points_of",
]
