r"""Read from each layer what the model would generate there.

The logit lens reads the decoder's state after each layer as if it were the last. Only the last layer was trained for
that: ranks say more than probabilities. `analyse decoder-lens` translates from each layer of the encoder.

For L layers and T tokens of the translation the file contains

  log_p, rank, entropy (L + 1, T)    of the tokens of the translation, in nats; rank 1 is the most
                                     probable token. Row 0 is the decoder's input
  top, top_log_p (L + 1, T, 5)       the most probable tokens, and their log-probability
  tokens (T,), source_tokens         the tokens of the translation and of the sentence
  provenance                         JSON text: checkpoint and its hash, sentence

The table has a row for each token: position, token, and log_p_0, rank_0, entropy_0, ... after each layer of
the decoder. Of --data it has them for each line; FILE.means.csv has the mean of each of these columns over
all tokens, with its 95 % interval over sentences.

Example:
  python -m transformer_core analyse lens --checkpoint checkpoints/en-de \
      --source "A man rides a bicycle." --out lens.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import Analysis, Measured, run_arrays, run_report

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    """Return rank, log-probability and entropy of every token at every layer, and the most probable tokens."""
    import numpy as np

    from transformer_core.analysis.lens import logit_lens

    lens = logit_lens(translator, *texts)
    values = {name: getattr(lens, name).cpu() for name in ("log_p", "rank", "entropy")}
    by_layer = {f"{name}_{layer}": row for name, rows in values.items() for layer, row in enumerate(rows)}
    tokens = lens.run.tokens
    return Measured(
        columns={"position": range(1, 1 + len(tokens)), "token": tokens, **by_layer},
        arrays={
            **run_arrays(lens.run),
            **values,
            "top": np.array(lens.top_tokens),
            "top_log_p": lens.top_log_p,
        },
        facts={"target": lens.run.text},
        report=[run_report(lens.run), "Rank of each token after each layer of the decoder"],
    )


ANALYSIS = Analysis("lens", _measure, shown=lambda name: name == "token" or name.startswith("rank_"))
add_options, run = ANALYSIS.add_options, ANALYSIS.run
