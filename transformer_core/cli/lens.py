"""lens: one sentence in; what the model would generate at each of its layers out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Parser, load_translator, write_table
from transformer_core.cli.sentence_files import (
    add_sentence,
    check_lengths,
    provenance_of,
    sentence_options,
    write_npz,
)

if TYPE_CHECKING:
    from transformer_core.analysis.lens import LogitLens
    from transformer_core.translator import Translation, Translator


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "lens",
        usage="--checkpoint DIR --source TEXT [--target TEXT] --out FILE.npz [--force]",
        description=(
            "Read the decoder's state after each layer as if it were the last (logit lens), and let the decoder\n"
            "translate from the encoder's state after each layer (DecoderLens). No layer but the last was trained for\n"
            "that: ranks say more than probabilities.\n\n"
            "For L layers and T tokens of the translation the file contains\n\n"
            "  log_p, rank, entropy (L + 1, T)    of the tokens of the translation, in nats; rank 1 is the most\n"
            "                                     probable token. Row 0 is the decoder's input\n"
            "  top, top_log_p (L + 1, T, 5)       the most probable tokens, and their log-probability\n"
            "  texts (L + 1,)                     translations from the encoder's state after each layer; the last\n"
            "                                     one is the plain translation\n"
            "  tokens (T,)                        the tokens of the translation\n"
            "  provenance                         JSON text: checkpoint and its hash, sentence"
        ),
        example=(
            "  python -m transformer_core lens --checkpoint checkpoints/en-de \\\n"
            '      --source "A man rides a bicycle." --out lens.npz'
        ),
    )
    result.add_checkpoint()
    add_sentence(result)
    result.add_machine()
    return result


def run(arguments: Sequence[str]) -> int:
    """Look through both lenses."""
    options = parser().options(arguments)
    source, target, out = sentence_options(options)
    translator = load_translator(options)
    check_lengths(translator, source, target)

    from transformer_core.analysis.lens import decoder_lens, logit_lens

    found = logit_lens(translator, source, target)
    translations = decoder_lens(translator, source)
    facts = {"source": source, "target": found.run.text, "target_given": target is not None}
    write_npz(out, _arrays(translator, found, translations), provenance_of(translator, **facts))
    _write_summary(found, translations)
    return 0


def _arrays(translator: Translator, found: LogitLens, translations: Sequence[Translation]) -> dict[str, Any]:
    import numpy as np

    top = [translator.tokenizer.tokens(row) for row in found.top.flatten(0, 1).tolist()]
    return {
        "log_p": found.log_p.cpu().numpy(),
        "rank": found.rank.cpu().numpy(),
        "entropy": found.entropy.cpu().numpy(),
        "top": np.array(top, dtype=np.str_).reshape(found.top.shape),
        "top_log_p": found.top_log_p.cpu().numpy(),
        "texts": np.array([each.text for each in translations], dtype=np.str_),
        "tokens": np.array(found.run.tokens, dtype=np.str_),
    }


def _write_summary(found: LogitLens, translations: Sequence[Translation]) -> None:
    """The rank of every token at every layer, and what is generated from every layer of the encoder."""
    sys.stdout.write(f"{found.run.text}\n\nRank of each token after each layer of the decoder\n")
    ranks = found.rank.tolist()
    rows = [[token, *(str(layer[at]) for layer in ranks)] for at, token in enumerate(found.run.tokens)]
    write_table([["token", *(str(layer) for layer in range(len(ranks)))], *rows])
    sys.stdout.write("\nTranslation from each layer of the encoder\n")
    for layer, each in enumerate(translations):
        sys.stdout.write(f"{layer}  {each.text}\n")
