"""Marian and OPUS-MT folders against transformers, with random weights."""

from __future__ import annotations

import pytest

from tests.core.conversion.marian_twins import VARIANTS, marian_twin
from tests.core.conversion.parity import check_tensors, check_texts, compare_greedy, compare_texts
from tests.core.conversion.twins import TARGETS, Twin, hostile_strings


@pytest.fixture(scope="module", params=VARIANTS)
def twin(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Twin:
    return marian_twin(tmp_path_factory.mktemp("marian"), request.param)


@pytest.mark.parametrize("lengths", [(1,), (5, 2, 9), (40, 3)], ids=str)
def test_states_attention_and_logits(twin: Twin, lengths: tuple[int, ...]) -> None:
    check_tensors(twin, lengths)


@pytest.mark.parametrize("beam", [1, 4])
def test_texts(twin: Twin, beam: int) -> None:
    check_texts(compare_texts(twin, 24, beam=beam))


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 4])
def test_many_texts(twin: Twin, beam: int) -> None:
    check_texts(compare_texts(twin, 200, beam=beam))


def test_greedy_search(twin: Twin) -> None:
    compare_greedy(twin, 8)


def test_tokens_of_hostile_strings(twin: Twin) -> None:
    for text in hostile_strings():
        theirs = twin.tokenizer(text)["input_ids"]
        ours = twin.converted.tokenizer.source.encode(text)
        assert list(ours.ids) == theirs[:-1], text
        assert len(ours.ids) == len(ours.pieces) == len(ours.spans)
        assert all(0 <= begin <= end <= len(text) for begin, end in ours.spans), text
        target = twin.tokenizer(text_target=text)["input_ids"]
        if not text.startswith(">>"):  # transformers knows marks of languages on both sides
            assert list(twin.converted.tokenizer.encode(text).ids) == target[:-1], text


def test_texts_of_pieces(twin: Twin) -> None:
    for text in TARGETS[::9]:
        ids = twin.converted.tokenizer.encode(text).ids
        theirs = twin.tokenizer.decode(ids, skip_special_tokens=True, use_source_tokenizer=False)
        assert twin.converted.tokenizer.decode([i for i in ids if i != 1]) == theirs
