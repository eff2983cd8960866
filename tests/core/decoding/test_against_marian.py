"""Beam search against Hugging Face's generate with copied weights: the n best and their scores, in batches.

Hugging Face divides by length ** length_penalty. Ours does with `power`; at alpha 0 both conventions are the same.
Every hypothesis compared ends with `</s>`: what is cut off at the limit is ranked differently there.
"""

from __future__ import annotations

from itertools import cycle
from typing import Any

import pytest
import torch

from tests.core.marian import marian_twin
from tests.core.tiny import SPECIAL, drawn_biases_and_norms, tiny_model
from transformer_core.config import DecodingConfig
from transformer_core.data import make_batch
from transformer_core.decoding.beam import beam_search
from transformer_core.decoding.greedy import greedy_search
from transformer_core.model.transformer import Transformer

LENGTHS = ((3, 7, 1), (12, 2), (5,))
MODELS = ((0, 1.0), (0, 2.0), (2, 2.5), (3, 2.0), (4, 1.0))  # seed, and how much the model likes to end
each_case = pytest.mark.parametrize(("seed", "ending", "lengths"), [(*m, n) for m, n in zip(MODELS, cycle(LENGTHS))])
ROOM = 45


@torch.no_grad()
def model_that_ends(seed: int, ending: float) -> Transformer:
    """Drawn weights and a bias towards `</s>`, so that translations of many lengths end by themselves."""
    options = {"tie": "none", "output_bias": True, "layer_norm_epsilon": 1e-5}  # a tied model repeats its last token
    model = drawn_biases_and_norms(tiny_model(seed=seed, d_k=4, d_v=4, **options))
    assert model.output_bias is not None
    model.output_bias[SPECIAL.eos] = ending
    return model


def sources(lengths: tuple[int, ...], seed: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(4, 40, (length,), generator=generator).tolist() for length in lengths]


def generate(model: Transformer, ids: torch.Tensor, **options: Any) -> Any:
    return marian_twin(model).generate(
        input_ids=ids,
        attention_mask=(ids != SPECIAL.pad).long(),
        max_new_tokens=ROOM,
        do_sample=False,
        suppress_tokens=[SPECIAL.pad, SPECIAL.bos, SPECIAL.unk],
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )


def tokens(row: torch.Tensor) -> tuple[int, ...]:
    """Ids between `<s>` and `</s>`."""
    ids = row.tolist()[1:]
    return tuple(ids[: ids.index(SPECIAL.eos)])


@each_case
@pytest.mark.parametrize(("alpha", "penalty"), [(0.0, "gnmt"), (0.6, "power"), (1.0, "power")])
def test_n_best(alpha: float, penalty: str, seed: int, ending: float, lengths: tuple[int, ...]) -> None:
    model, beam = model_that_ends(seed, ending), 4
    batch = make_batch(sources(lengths, seed), [[] for _ in lengths], SPECIAL)
    config = DecodingConfig.from_dict({"beam": beam, "alpha": alpha, "length_penalty": penalty, "extra_length": ROOM})
    results = beam_search(model, batch.source, SPECIAL, config)
    theirs = generate(
        model,
        batch.source,
        num_beams=beam,
        num_return_sequences=beam,
        length_penalty=alpha,
        early_stopping=False,
    )
    ours = [hypothesis for result in results for hypothesis in result.hypotheses]
    assert all(hypothesis.finished for hypothesis in ours)
    assert [hypothesis.ids for hypothesis in ours] == [tokens(row) for row in theirs.sequences]
    assert [hypothesis.score for hypothesis in ours] == pytest.approx(theirs.sequences_scores.tolist(), abs=1e-4)


@each_case
def test_greedy(seed: int, ending: float, lengths: tuple[int, ...]) -> None:
    model = model_that_ends(seed, ending)
    batch = make_batch(sources(lengths, seed), [[] for _ in lengths], SPECIAL)
    theirs = generate(model, batch.source, num_beams=1).sequences
    ours = greedy_search(model, batch.source, SPECIAL, extra_length=ROOM)
    for ids, row in zip(ours, theirs.tolist(), strict=True):
        expected = row[1:]
        ended = expected.index(SPECIAL.eos) if SPECIAL.eos in expected else ROOM
        assert ids[:ROOM] == expected[:ended]
