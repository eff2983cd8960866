"""Attribution by leaving words out: the fall of the log-probability when a word is masked everywhere.

A word is masked as a key; its position stays. A source word is masked in the encoder's self-attention and in
encoder-decoder attention, a target word in the decoder's self-attention. Softmax gives its weight to the other keys.
The position still reads its own embedding, so the token right after a target word keeps a trace of it. The effects are
causal and do not add up.

The unit is the word. Its effect is shared evenly among its tokens, so that their sum is the effect of the word.

Shape legend: R rows, one for each explained token, B rows of a batch, S source positions, T target positions, U units.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.attribution.methods import Question, input_axis, source_axis
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, rows_in_time
from transformer_core.attention_maps import Axis, Kind
from transformer_core.hooks.hook_sites import Rows, Site
from transformer_core.hooks.points import edit, row_context
from transformer_core.translator import Translator

_MAX_VALUES = 2**26  # of the largest tensor of a batch: 256 MiB


def by_leaving_out(
    translator: Translator, run: TeacherForcedRun, question: Question, check: Callable[[], None]
) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Compute (R, S), (R, T), and the redistributed attention; the run needs `weights` captured."""
    sides = []
    for labels, side in ((source_axis(run), "source"), (input_axis(run), "target")):
        units = _units(labels).to(run.source.device)  # (U, n)
        hidden = torch.cat([torch.zeros_like(units[:1]), units])
        answers = answers_without(translator, run, question, hidden, of_source=side == "source", check=check)
        effects = (answers[:1] - answers[1:]) / units.sum(dim=1, keepdim=True)  # (U, R)
        sides.append(effects.T @ units.to(effects))
    return sides[0], sides[1], _redistributed(translator, run)


@torch.no_grad()
def answers_without(
    translator: Translator,
    run: TeacherForcedRun,
    question: Question,
    hidden: Tensor,
    *,
    of_source: bool,
    check: Callable[[], None],
) -> Tensor:
    """Answer a question with some tokens masked everywhere.

    Args:
        translator: The model. Active edits stay active.
        run: The sentence.
        question: The explained tokens.
        hidden: (B, S) or (B, T), True for masked tokens.
        of_source: Whether these are source tokens or decoder inputs.
        check: Called before each batch.

    Returns:
        (B, R) nats.
    """
    model, config = translator.model, translator.config
    s, t = run.source.shape[1], run.inputs.shape[1]
    widest = max(
        max(s, t) * config.d_ff, len(question.positions) * config.vocab_size, config.num_heads * max(s, t) ** 2
    )
    kinds: tuple[Kind, ...] = ("encoder", "cross") if of_source else ("decoder",)
    places = [hook_point_name(kind, layer, "scores") for kind in kinds for layer in range(config.num_layers)]
    memory = None if of_source else model.encode(run.source, run.source_mask)
    answers = []
    size = max(1, min(_MAX_VALUES // widest, rows_in_time(s, t)))
    for start in range(0, len(hidden), size):
        check()
        rows = hidden[start : start + size]  # (b, S) or (b, T)

        def hide(scores: Tensor, _site: Site, rows: Tensor = rows) -> Tensor:
            return scores.masked_fill(rows[:, None, None], -math.inf)

        source, inputs, mask = run.copies(len(rows))
        with row_context(Rows(sentences=(0,) * len(rows))), edit(model, places, hide):
            read = model.encode(source, mask) if memory is None else memory.expand(len(rows), -1, -1)
            states = model.decode(inputs, read, mask)
        answers.append(question.answer(model.logits(states[:, question.positions])))
    return torch.cat(answers)


def _units(labels: Axis) -> Tensor:
    """Return (U, n), True for the tokens of each word; `<s>` and `</s>` are separate units."""
    words = torch.tensor(labels.words)
    return words == torch.arange(int(words[-1]) + 1)[:, None]


def _redistributed(translator: Translator, run: TeacherForcedRun) -> dict[str, Tensor]:
    """Return the mean weight of each key over layers, heads and queries: (S,) and (T,)."""

    def mean(*kinds: Kind) -> Tensor:
        layers = range(translator.config.num_layers)
        maps = [run.captured[hook_point_name(kind, layer, "weights")][0] for kind in kinds for layer in layers]
        return torch.cat(maps, dim=1).mean(dim=(0, 1))  # (H, queries of all, keys)

    return {"redistributed_source": mean("encoder", "cross"), "redistributed_target": mean("decoder")}
