r"""Read from each layer what the model would generate there.

The logit lens reads the decoder's state after each layer as if it were the last. DecoderLens lets the decoder
translate from the encoder's state after each layer. Only the last layer was trained for that: ranks say more than
probabilities.

For L layers and T tokens of the translation the file contains

  log_p, rank, entropy (L + 1, T)    of the tokens of the translation, in nats; rank 1 is the most
                                     probable token. Row 0 is the decoder's input
  top, top_log_p (L + 1, T, 5)       the most probable tokens, and their log-probability
  texts (L + 1,)                     translations from the encoder's state after each layer; the last
                                     one is the plain translation
  tokens (T,)                        the tokens of the translation
  provenance                         JSON text: checkpoint and its hash, sentence

The table of --data has a row for each token of each line: line, position, token, and log_p_0, rank_0,
entropy_0, ... after each layer of the decoder. FILE.means.csv has the mean of each of these columns over
all tokens, with its 95 % interval over sentences.

Example:
  python -m transformer_core lens --checkpoint checkpoints/en-de \
      --source "A man rides a bicycle." --out lens.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Options
from transformer_core.cli.sentence.data_set import Columns, DataSet
from transformer_core.cli.sentence.sentence_command import Measurement, SentenceCommand, sentence_facts

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def _measure(translator: Translator, options: Options) -> Measurement:
    """Return both lenses: the rank of every token at every layer, and a translation from each of the encoder's."""
    import numpy as np

    from transformer_core.analysis.lens import decoder_lens, logit_lens

    found = logit_lens(translator, options.source, options.target)
    texts = [each.text for each in decoder_lens(translator, options.source)]
    top = [translator.tokenizer.tokens(row) for row in found.top.flatten(0, 1).tolist()]
    ranks = found.rank.tolist()
    rows = [[token, *(str(layer[at]) for layer in ranks)] for at, token in enumerate(found.run.tokens)]
    return Measurement(
        arrays={
            "log_p": found.log_p,
            "rank": found.rank,
            "entropy": found.entropy,
            "top": np.array(top).reshape(found.top.shape),
            "top_log_p": found.top_log_p,
            "texts": texts,
            "tokens": found.run.tokens,
        },
        facts=sentence_facts(options, found.run.text),
        report=[
            f"{found.run.text}\n\nRank of each token after each layer of the decoder",
            [["token", *map(str, range(len(ranks)))], *rows],
            "\nTranslation from each layer of the encoder",
            *(f"{layer}  {text}" for layer, text in enumerate(texts)),
        ],
    )


def _columns(translator: Translator, texts: Sequence[Any], _choices: Mapping[str, Any]) -> Columns:
    from transformer_core.analysis.lens import logit_lens

    found = logit_lens(translator, *texts)
    values = {name: getattr(found, name).cpu() for name in ("log_p", "rank", "entropy")}
    by_layer = {f"{name}_{layer}": row for name, rows in values.items() for layer, row in enumerate(rows)}
    return {"position": range(1, 1 + len(found.run.tokens)), "token": found.run.tokens, **by_layer}


COMMAND = SentenceCommand("lens", _measure, data_set=DataSet(_columns))
add_options, run = COMMAND.add_options, COMMAND.run
