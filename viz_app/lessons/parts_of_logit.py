"""Parts of a logit as one row, which `stage/js/foldedflow.js` reads.

Shape legend: S source tokens, T generated tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from transformer_core.analysis.flow import Flow


def parts_of_logit(flow: Flow) -> npt.NDArray[np.float32]:
    """Return parts of the source tokens, of the decoder's inputs, and of the biases, and their sum: (S + T + 2,)."""
    return np.array([*flow.source, *flow.inputs, flow.biases, flow.logit], dtype=np.float32)
