"""Lesson "Subwords and batches" (Section 5.1): the numbers behind its pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypedDict

import numpy as np

from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.stage.state import Setting
from viz_app.lessons.subwords.batching import Batches, file_order_batches, length_sorted_batches, lengths
from viz_app.lessons.subwords.merging import merge_ranks, merges, most_fragmented_word, normalised_letters, tokens
from viz_app.lessons.word_order import words_of

BUDGETS = (128, 512)  # tokens of a batch: least and most
BUDGET = 256
STEP = 32


Padding = tuple[int, int, int]  # positions that are padding, all positions, batches


class Values(TypedDict):
    """Numbers for the browser.

    Args:
        letters: Of the sentence.
        count: Merges of the vocabulary.
        tokens: Of the sentence.
        word: A word, right and misspelt.
        word_tokens: Of both.
        padding: In the order of the file, and sorted by length.
    """

    letters: str
    count: int
    tokens: list[str]
    word: tuple[str, str]
    word_tokens: tuple[list[str], list[str]]
    padding: tuple[Padding, Padding]


def data(context: LessonContext) -> StageData:
    """Return the merges of the sentence, batches in two orders, and a misspelt word with its tokens."""
    tokenizer = context.service.translator.tokenizer.source
    ranks = merge_ranks(tokenizer)
    letters = normalised_letters(tokenizer, context.source)
    done = merges(letters, ranks)
    words = [word.text for word in words_of(context.tokens[:-1]) if word.plain and len(word.text) > 1] or ["playing"]
    word, wrong = most_fragmented_word(words, tokenizer)
    budget = STEP * round(context.state.number("budget", BUDGET, *BUDGETS) / STEP)
    plain, sorted_ = _batches(budget)
    values: Values = {
        "letters": letters,
        "count": len(ranks),
        "tokens": list(tokens(letters, done)),
        "word": (word, wrong),
        "word_tokens": (list(tokenizer.encode(word).tokens), list(tokenizer.encode(wrong).tokens)),
        "padding": (_padding(plain), _padding(sorted_)),
    }
    return StageData(
        values=values,
        arrays={
            "merges": np.array([[m.begin, m.middle, m.end, m.rank] for m in done], dtype=np.int32).reshape(-1, 4),
            "lengths": lengths().astype(np.int32),
            "places": np.stack([np.stack([each.batch, each.row], 1) for each in (plain, sorted_)]).astype(np.int32),
            "plain": _shapes(plain),
            "sorted": _shapes(sorted_),
        },
        answers={"budget": budget},
    )


def _padding(batches: Batches) -> Padding:
    return batches.padded, batches.positions, len(batches.rows)


def prepared(scene: str, context: LessonContext) -> Iterator[Mapping[str, Setting]]:
    """List the batch sizes."""
    if scene == "batches":
        yield from ({"budget": budget} for budget in range(BUDGETS[0], BUDGETS[1] + 1, STEP))


@lru_cache(maxsize=32)
def _batches(budget: int) -> tuple[Batches, Batches]:
    return file_order_batches(budget), length_sorted_batches(budget)


def _shapes(batches: Batches) -> Any:
    """Return (batches, 3) int32: rows, positions of the source, positions of the target."""
    return np.column_stack([batches.rows, batches.widths]).astype(np.int32)
