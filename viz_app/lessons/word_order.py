"""Effect of the word order on the encoder, with positions and without.

Without positions nothing tells the encoder where a token stands, so that the same tokens in another order give the same
vectors in that order (Section 3.5).

Shape legend: n tokens with `</s>`, H heads, L layers, d = d_model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import WORD_BOUNDARY

if TYPE_CHECKING:
    from torch import Tensor

    from transformer_core.model.transformer import Transformer
    from transformer_core.translator import Translator

_LETTER = re.compile(r"\w")
# Before these stands, in most English sentences, who does something.
_VERBS = frozenset(("is", "are", "was", "were", "am", "has", "have", "had", "do", "does", "did", "will", "can", "must"))

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Word:
    """Word of a sentence, punctuation mark, or `</s>`.

    Args:
        text: As it is read.
        begin: Its first token.
        end: The token after its last one.
        special: Whether it is `</s>`.
    """

    text: str
    begin: int
    end: int
    special: bool = False

    @property
    def plain(self) -> bool:
        """Return whether it has letters or figures."""
        return not self.special and bool(_LETTER.search(self.text))


def words_of(tokens: Sequence[str]) -> tuple[Word, ...]:
    """Group the tokens of a sentence without `</s>` into words, and append `</s>`."""
    from transformer_core.text.tokenizer import EOS_TOKEN, word_numbers

    numbers = word_numbers(tokens)
    words = []
    for number in sorted(set(numbers)):
        begin, count = numbers.index(number), numbers.count(number)
        text = "".join(tokens[begin : begin + count]).replace(WORD_BOUNDARY, "")
        words.append(Word(text, begin, begin + count))
    return (*words, Word(EOS_TOKEN, len(tokens), len(tokens) + 1, special=True))


def default_swap(words: Sequence[Word]) -> tuple[int, int]:
    """Choose two words to swap at first: the one before the first auxiliary verb, else the second; and the last.

    Args:
        words: At least two, plain ones only.
    """
    verb = next((number for number, word in enumerate(words) if word.text.lower() in _VERBS), 2)
    last = len(words) - 1
    return min(max(verb - 1, 0), last - 1), last


def swapped_order(count: int, one: int, other: int) -> list[int]:
    """Return the old place of the word at each of `count` places after a swap."""
    order = list(range(count))
    order[one], order[other] = order[other], order[one]
    return order


def token_order(words: Sequence[Word], order: Sequence[int]) -> IntArray:
    """Return the old place of the token at each place after the words have moved."""
    return np.concatenate([np.arange(words[old].begin, words[old].end) for old in order])


@dataclass(frozen=True)
class OrderChange:
    """Change of each token in another order, by old places.

    Args:
        outputs: (n,) length of the change of the encoder's output vector, as a share of the vector's own length.
        attention: (n,) attention that has gone elsewhere, 0 to 1, mean over all heads and layers.
    """

    outputs: FloatArray
    attention: FloatArray

    def by_word(self, words: Sequence[Word]) -> FloatArray:
        """Return (2, words): outputs and attention, means over the tokens of a word."""
        rows = [[row[word.begin : word.end].mean() for word in words] for row in (self.outputs, self.attention)]
        return np.array(rows, dtype=np.float32)


def measure_change(
    translator: Translator, ids: Sequence[int], order: IntArray, *, positions: bool = True
) -> OrderChange:
    """Run the encoder on a sentence and on its reordering, and compare each token with itself.

    Args:
        translator: The model.
        ids: (n - 1,) the tokens without `</s>`.
        order: (n,) for each new place the old one; `</s>` stays the last.
        positions: Whether the encoder gets its positions.
    """
    import torch

    from transformer_core.data import make_batch
    from transformer_core.hooks.points import capture
    from transformer_core.model.masks import padding_mask

    special = translator.tokenizer.special
    rows = [list(ids), [ids[old] for old in order[:-1]]]
    source = make_batch(rows, [[], []], special).source
    back = np.argsort(order)  # for each old place the new one
    with torch.no_grad(), _positions(translator.model, source, positions), capture(translator.model) as captured:
        memory = translator.model.encode(source, padding_mask(source, special.pad)).numpy()  # (2, n, d)
    before, after = memory[0], memory[1][back]
    lost = []
    for address in captured:
        weights = captured[address].numpy()  # (2, H, n, n)
        moved = weights[1][:, back][:, :, back]
        lost.append(np.abs(weights[0] - moved).sum(axis=2).mean(axis=0) / 2)  # (n,)
    return OrderChange(
        outputs=np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1),
        attention=np.mean(lost, axis=0, dtype=np.float32),
    )


def translate_rows(
    translator: Translator,
    rows: Sequence[Sequence[int]],
    beam: int,
    *,
    positions: bool,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[str]:
    """Translate rows of tokens with or without positions in the encoder; the decoder keeps its own.

    Raises:
        DecodingStopped: `should_stop`, asked before every step, said so.
    """
    import torch

    from transformer_core.data import make_batch
    from transformer_core.decoding.beam import beam_search

    tokenizer = translator.tokenizer
    source = make_batch([list(row) for row in rows], [[] for _ in rows], tokenizer.special).source
    with torch.no_grad(), _positions(translator.model, source, positions):
        config = translator.decoding.replace(beam=beam)
        constraint = translator.constraint(rows)
        searches = beam_search(translator.model, source, tokenizer.special, config, should_stop, constraint=constraint)
    return [tokenizer.decode(result.hypotheses[0].ids) for result in searches]


def _positions(model: Transformer, source: Tensor, positions: bool) -> AbstractContextManager[None]:
    """Remove the positions from the encoder's input, without the rounding of a subtraction."""
    from transformer_core.hooks.points import edit

    if positions:
        return nullcontext()
    table = model.source_embedding or model.embedding
    return edit(model, "encoder.embeddings", lambda value, site: table(source))
