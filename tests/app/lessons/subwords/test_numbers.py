"""The lesson on subwords and batches: merges against SentencePiece, padding counted by hand, plans without a loss."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app.lessons.conftest import Visit
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.translator import Translator
from viz_app.lessons.subwords.batching import file_order_batches, length_sorted_batches, lengths, measure_padding
from viz_app.lessons.subwords.merging import (
    merge_ranks,
    merges,
    misspell,
    most_fragmented_word,
    normalised_letters,
    tokens,
)
from viz_app.lessons.subwords.numbers import data
from viz_app.text.examples import EXAMPLES


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(list(EXAMPLES.values()), vocab_size=150, threads=1)


@pytest.mark.parametrize("text", [*EXAMPLES.values(), "a  racket,racket", "zebra tennis 1234 is", "Ｔｈｅ house"])
def test_merging_step_by_step_gives_the_pieces_of_sentencepiece(tokenizer: Tokenizer, text: str) -> None:
    encoding = tokenizer.encode(text)
    letters = normalised_letters(tokenizer, text)
    done = merges(letters, merge_ranks(tokenizer))
    # SentencePiece joins neighbouring unknown letters into one token; compare the others.
    known = [token for token, unknown in zip(encoding.tokens, encoding.unknown, strict=True) if not unknown]
    rows = [token for token in tokens(letters, done) if token in "".join(known) or token in known]
    if not any(encoding.unknown):
        assert tokens(letters, done) == encoding.tokens
    else:
        assert [token for token in rows if len(token) > 1] == [token for token in known if len(token) > 1]
    assert [merge.rank for merge in done] == sorted(merge.rank for merge in done)


def test_a_smaller_vocabulary_is_the_same_list_cut_short(tokenizer: Tokenizer) -> None:
    """Compare the row after r merges with a vocabulary of r merges, by hand on one word."""
    ranks = {"ab": 1, "cd": 2, "abcd": 3}
    done = merges("abcdab", ranks)
    assert [(merge.begin, merge.middle, merge.end, merge.rank) for merge in done] == [
        (0, 1, 2, 1),
        (4, 5, 6, 1),
        (2, 3, 4, 2),
        (0, 2, 4, 3),
    ]
    assert tokens("abcdab", done[:3]) == ("ab", "cd", "ab")
    few = {token: rank for token, rank in ranks.items() if rank <= 2}
    assert merges("abcdab", few) == done[:3]


def test_a_misspelt_word_has_other_letters_in_another_order(tokenizer: Tokenizer) -> None:
    assert misspell("garden") == "gadren"
    assert misspell("aab") == "aba"
    assert misspell("aa") == "aa"
    word, wrong = most_fragmented_word(["is", "playing", "garden"], tokenizer)
    most = max(
        len(tokenizer.encode(misspell(each))) - len(tokenizer.encode(each)) for each in ("is", "playing", "garden")
    )
    assert len(tokenizer.encode(wrong)) - len(tokenizer.encode(word)) == most


def test_padding_is_counted_on_both_sides() -> None:
    """Two pairs by hand: with </s> or <s> each row has one position more than tokens."""
    chosen = np.array([0, 1], dtype=np.uint32)
    sizes = lengths()[chosen] + 1
    batches = measure_padding([chosen, np.array([2], dtype=np.uint32)])
    expected = sum(2 * side.max() - side.sum() for side in sizes.T)
    assert batches.padded == expected
    assert batches.positions == sum(2 * side.max() for side in sizes.T) + (lengths()[2] + 1).sum()
    assert batches.rows.tolist() == [2, 1] and batches.widths[0].tolist() == sizes.max(axis=0).tolist()


@pytest.mark.parametrize("budget", [128, 256, 512])
def test_every_pair_is_in_one_batch_within_the_budget_and_sorting_saves_padding(budget: int) -> None:
    plain, sorted_ = file_order_batches(budget), length_sorted_batches(budget)
    for each in (plain, sorted_):
        assert len(set(zip(each.batch.tolist(), each.row.tolist(), strict=True))) == len(lengths())
        assert np.bincount(each.batch).tolist() == each.rows.tolist()
        assert (each.rows * each.widths.max(axis=1) <= budget).all()
    assert sorted_.padded / sorted_.positions < 0.5 * plain.padded / plain.positions


def test_the_lesson_answers_its_control(visit: Visit, translator: Translator) -> None:
    text = "He bought a tennis racket."
    numbers = data(visit("batches", text, budget=170.0))
    assert numbers.answers == {"budget": 160}
    assert numbers.values["padding"][1][0] == length_sorted_batches(160).padded
    assert numbers.values["tokens"] == list(translator.tokenizer.encode(text).tokens)
