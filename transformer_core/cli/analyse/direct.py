r"""Split the logit of one token into what each part of the decoder adds directly (direct logit attribution).

--at N is the token number N of the translation. With --tokens A, the logit of A there is split; with --tokens A B, the
logit of A minus that of B.

For L layers, H heads, S source tokens and T tokens of the translation the file contains, in nats

  cross (L, H, S), decoder (L, H, T)            heads, by source token and by decoder input
  feed_forward (L,), biases                     networks; biases and beta of every LayerNorm
  embedding, positional_encoding                of the decoder's input
  logit                                         their sum
  tokens, log_p (T,), source_tokens (S,)        the tokens and their log-probability
  provenance                                    JSON text: checkpoint and its hash, sentence, token

The table has a row for each head of the decoder: head (such as cross.6.8), nats.

Example:
  python -m transformer_core analyse direct --checkpoint checkpoints/en-de \\
      --source "A man rides a bicycle." --at 2 --out direct.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import Analysis, Measured, head_columns, run_arrays
from transformer_core.cli.analyse.tokens import from_0, token_ids
from transformer_core.cli.arguments import Options, Parser, UsageError

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def _options(parser: Parser) -> None:
    parser.add_number("--at", 1, "Number of the token, from 1.")
    parser.add_argument("--tokens", nargs="+", metavar="TOKEN", help="Another token, or two.")


def _check(options: Options) -> None:
    if len(options.tokens or ()) > 2:
        raise UsageError("--tokens takes one token or two")


def _choices(translator: Translator, options: Options) -> dict[str, Any]:
    return {"at": options.at, "tokens": token_ids(translator, options.tokens)}


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    """Return the direct parts of a logit, and the sum of each head."""
    from transformer_core.analysis.effects.direct_effects import POINTS, direct_effects
    from transformer_core.analysis.teacher_forced_run import teacher_forced_run

    run = teacher_forced_run(translator, *texts, points=POINTS)
    position = from_0("--at", choices["at"], len(run.outputs))
    direct = direct_effects(translator, run, position=position, tokens=choices["tokens"])
    return Measured(
        columns=head_columns(nats=direct.heads),
        arrays={**direct.parts, "logit": direct.logit, **run_arrays(run)},
        facts={"target": run.text, "tokens": direct.tokens},
        report=[f"{run.text}\n{direct}\n\nHeads that add most, in nats"],
    )


ANALYSIS = Analysis("direct", _measure, _options, _check, _choices, data=False, ranked=True)
add_options, run = ANALYSIS.add_options, ANALYSIS.run
