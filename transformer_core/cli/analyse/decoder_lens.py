r"""Translate from the encoder's state after each layer (DecoderLens).

Only the last layer was trained for that. For L layers the file contains

  texts (L + 1,)      translations; the first is from the encoder's input, the last is the plain translation
  provenance          JSON text: checkpoint and its hash, sentence

The table has a row for each layer: layer (encoder.1, ...; embedding for the input), text.

Example:
  python -m transformer_core analyse decoder-lens --checkpoint checkpoints/en-de \\
      --source "A man rides a bicycle." --out decoder-lens.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import SENTENCE, Analysis, Measured

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    from transformer_core.analysis.lens import decoder_lens

    translations = [each.text for each in decoder_lens(translator, texts[0])]
    layers = ["embedding", *(f"encoder.{layer}" for layer in range(1, len(translations)))]
    return Measured(columns={"layer": layers, "text": translations}, arrays={"texts": translations})


ANALYSIS = Analysis("decoder-lens", _measure, texts=SENTENCE[:1], data=False)
add_options, run = ANALYSIS.add_options, ANALYSIS.run
