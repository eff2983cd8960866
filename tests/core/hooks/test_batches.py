"""Batches of sentences of different lengths: each is edited, and counts in a mean, as it is alone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

import transformer_core as tc
from tests.core.analysis.models import make_translator
from tests.core.tiny import SPECIAL, inputs_for, padded, sentence_pairs, tiny_model
from transformer_core import (
    DecodingConfig,
    Tokenizer,
    Transformer,
    Translator,
    chain,
    force_edges,
    inject,
    knock_out,
    mean_of,
    patch,
)
from transformer_core.decoding.beam import beam_search
from transformer_core.hooks.captured import mask_of, vectors_of
from transformer_core.hooks.points import POINTS as ALL_POINTS
from transformer_core.hooks.points import Captured, Edit, Site, capture, edit
from transformer_core.model.masks import input_padding_mask, padding_mask
from transformer_core.runs import Run, run

_BY_LENGTH = sorted(sentence_pairs(), key=lambda pair: len(pair[0]))
PAIRS = [_BY_LENGTH[place] for place in (len(_BY_LENGTH) // 2, 0, -1)]  # neither in order of length nor reversed
POINTS = ["scores", "weights", "head_outputs", "queries", "keys", "values", "head_results"]
PLACES = [
    *(f"{place}.{point}" for place in ("encoder.2.3", "decoder.2.3", "cross.1.2", "cross.2") for point in POINTS),
    *("encoder.1.residual", "decoder.1.activations", "encoder.embeddings", "decoder.logits"),
]


def log_p(result: Run) -> list[Tensor]:
    return list(result.log_p.tensors)


def close(batch: list[Tensor], alone: list[Tensor]) -> None:
    torch.testing.assert_close(batch, alone, atol=1e-4, rtol=1e-4)


@pytest.fixture
def donor(learned: Translator) -> Run:
    """Other values, at as many positions: the same sentences, read with other embeddings."""
    assert len({len(learned.encode(source)) for source, _ in PAIRS}) == 3

    def bend(value: Tensor, site: Site) -> Tensor:
        return value.flip(-1)

    return run(learned, PAIRS, keep="all", edits={"encoder.embeddings": bend, "decoder.embeddings": bend})


@pytest.mark.parametrize("place", PLACES)
def test_each_sentence_is_patched_from_its_own(place: str, learned: Translator, donor: Run) -> None:
    batch = log_p(run(learned, PAIRS, edits={place: patch(donor)}))
    alone = [log_p(run(learned, pair, edits={place: patch(donor[number])}))[0] for number, pair in enumerate(PAIRS)]
    close(batch, alone)
    assert max(float((a - b).abs().max()) for a, b in zip(batch, log_p(run(learned, PAIRS)), strict=True)) > 1e-3


def in_place(value: Tensor, site: Site) -> None:
    value[:] = 0


CHANGES: dict[str, Callable[[Run], dict[str, Edit]]] = {
    "mean": lambda other: {"cross.2.1": mean_of(other), "encoder.1.residual": mean_of(other)},
    "inject": lambda other: {"cross.2.1.weights": inject(torch.full((99, 99), 0.1))},
    "force": lambda other: {"cross.2.scores": force_edges({1: 2}), "encoder.1.2.scores": force_edges({0: 3})},
    "knock out": lambda other: {"decoder.1.2.scores": knock_out([(2, 0)])},
    "several": lambda other: {"cross.2.1": chain(patch(other), lambda value, site: value * 2), "cross.2.2": in_place},
    "in place": lambda other: {"decoder.1.residual": in_place},
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_batch_is_its_sentences_alone(name: str, learned: Translator, donor: Run) -> None:
    batch = run(learned, PAIRS, edits=CHANGES[name](donor))
    means = name == "mean"  # over all sentences
    alone = [
        run(learned, pair, edits=CHANGES[name](donor if means else donor[number])) for number, pair in enumerate(PAIRS)
    ]
    close(log_p(batch), [log_p(each)[0] for each in alone])


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("place", ["encoder.2.3", "cross.2.3.values"])
def test_beam_search_patches_each_sentence_from_its_own(
    place: str, beam: int, learned: Translator, donor: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learned, "decoding", learned.decoding.replace(beam=beam))
    texts = [source for source, _ in PAIRS]
    with edit(learned, place, patch(donor)):
        batch = learned.translate_batch(texts)
    for number, text in enumerate(texts):
        with edit(learned, place, patch(donor[number])):
            alone = learned.translate(text)
        assert batch[number].tokens == alone.tokens
        torch.testing.assert_close(torch.tensor(batch[number].scores), torch.tensor(alone.scores), atol=1e-4, rtol=1e-4)


def test_sentences_keep_their_numbers_beside_an_empty_one(learned: Translator) -> None:
    seen: list[tuple[int, ...]] = []

    def look(value: Tensor, site: Site) -> None:
        seen.append(site.sentences(value))

    with edit(learned, "encoder.1.residual", look):
        learned.translate_batch(["", PAIRS[0][0], "", PAIRS[1][0]])
    assert seen == [(1, 3)]


def test_scores_of_several_passes_are_patched(learned: Translator, donor: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with edit(learned, "cross.2.3", patch(donor)):
        expected = learned.score(PAIRS)
        monkeypatch.setattr("transformer_core.translator._MAX_PASS_BYTES", 1)
        assert learned.score(PAIRS) == pytest.approx(expected, abs=1e-4)


def test_other_counts_and_lengths_are_errors(learned: Translator, donor: Run) -> None:
    def refused(what: object, change: Edit, message: str, place: str = "encoder.2.3") -> None:
        with pytest.raises(ValueError, match=message):
            run(learned, what, edits={place: change})  # type: ignore[arg-type]

    refused(PAIRS[0], patch(donor), "1 sentences, the other run has 3")
    refused(PAIRS[:2], patch(donor), "2 sentences, the other run has 3")
    refused(PAIRS, patch(donor[:2]), "3 sentences, the other run has 2")
    for one, other in ((0, 1), (1, 0)):  # longer and shorter
        for place in ("encoder.2.3", "cross.2.3.values", "encoder.1.residual"):
            refused(PAIRS[one], patch(donor[other]), "positions={here: there}", place)
            refused([PAIRS[one]] * 2, patch(donor[other]), "positions={here: there}", place)
    with capture(learned, "encoder.2.head_outputs") as steps:
        for pair in PAIRS:
            learned.score([pair])
    refused(PAIRS[0], patch(steps), "holds 3 passes")


def test_positions_are_patched_from_those_given(learned: Translator, donor: Run) -> None:
    at, place = {0: 2, 3: 1}, "encoder.1.residual"
    result = run(learned, PAIRS[0], keep=place, edits={place: patch(donor[1], positions=at)})[place].tensor
    expected = run(learned, PAIRS[0], keep=place)[place].tensor.clone()
    for here, there in at.items():
        expected[here] = donor[1][place].tensor[there]
    assert torch.equal(result, expected)
    with pytest.raises(ValueError, match="the other run has"):
        run(learned, PAIRS[0], edits={place: patch(donor[1], positions={0: 99})})


@pytest.mark.parametrize("returns", [True, False])
def test_an_edit_in_place_changes_its_head_alone(returns: bool, learned: Translator) -> None:
    def wipe(value: Tensor, site: Site) -> Tensor | None:
        value[:] = 0
        return value if returns else None

    expected = log_p(run(learned, PAIRS, edits={"cross.2.3": tc.zero}))
    close(log_p(run(learned, PAIRS, edits={"cross.2.3": wipe})), expected)


def test_a_model_in_half_precision_takes_values_of_another(learned: Translator, donor: Run) -> None:
    half = Translator(copy.deepcopy(learned.model).half(), learned.tokenizer, learned.decoding)
    edits = {"cross.2.3": patch(donor), "encoder.1.2.weights": patch(donor), "decoder.1.1": mean_of(donor)}
    batch = log_p(run(half, PAIRS, edits=edits))
    for number, pair in enumerate(PAIRS):
        own = {**edits, "cross.2.3": patch(donor[number]), "encoder.1.2.weights": patch(donor[number])}
        torch.testing.assert_close(batch[number], log_p(run(half, pair, edits=own))[0], atol=0.03, rtol=0.03)


# --- means over captures ----------------------------------------------------------------------------------------------

UNEQUAL = [
    ("The man sees a house today.", "Der Mann sieht ein Haus."),
    ("A child finds two well-known books.", "Ein Kind findet zwei bekannte Bücher heute."),
    ("My friend paints.", "Mein Freund malt."),
]
OF_KEYS = ("scores", "weights")  # as wide as the sentence is long


def by_hand(seen: Captured, address: str) -> Tensor:
    """The mean over captures of single sentences: each vector once."""
    rows = [call.movedim(-2, 1).flatten(0, 1) for call in seen.calls[address]]
    return torch.cat(rows).mean(dim=0)


@pytest.mark.parametrize(
    "options", [{}, {"norm": "pre", "embedding_norm": True}, {"window": 2}, {"causal": False}], ids=str
)
def test_a_padded_batch_has_the_means_of_its_sentences(tokenizer: Tokenizer, options: dict[str, Any]) -> None:
    translator = make_translator(tokenizer, **options)
    translator.model.eval()
    points = set(ALL_POINTS) - set(OF_KEYS)
    with capture(translator.model, points) as together:
        translator.score(UNEQUAL)
    with capture(translator.model, points) as apart:
        for pair in UNEQUAL:
            translator.score([pair])
    assert set(together) == set(apart)
    for address in together:
        expected = by_hand(apart, address)
        torch.testing.assert_close(together.mean(address), expected, atol=1e-5, rtol=1e-4, msg=address)
        torch.testing.assert_close(apart.mean(address), expected, msg=address)
        if address.endswith("head_outputs"):
            padding_too = together[address].transpose(0, 1).flatten(1, 2).mean(dim=1)
            assert not torch.allclose(padding_too, expected, rtol=1e-2)


def test_the_mask_is_that_of_the_pass(model: Transformer) -> None:
    source, target, mask = inputs_for((5, 3), 4)
    target[1, 2:] = SPECIAL.pad
    with torch.no_grad(), capture(model, "all") as seen:
        model(source, target, mask, input_padding_mask(target, SPECIAL.pad))
        model(source[:1], target[:1], None)
    lengths = {"encoder": [5, 3], "decoder": [4, 2]}
    for address, (padded_call, whole_call) in seen.calls.items():
        stack = "encoder" if ".cross_attention." in address and address.endswith(("keys", "values")) else address[:7]
        result, whole = mask_of(padded_call), mask_of(whole_call)
        assert result is not None and whole is not None
        assert result.sum(dim=1).tolist() == lengths[stack]
        assert whole.all() and len(vectors_of(whole_call)) == lengths[stack][0]
    assert mask_of(seen[address].clone()) is None


def test_gradients_know_the_mask_too(model: Transformer) -> None:
    with capture(model, "encoder.2.attention_output", grad=True) as seen:
        torch.autograd.backward(model(*inputs_for((5, 3), 4)).square().sum())
    (address,) = seen
    gradient = seen.grad[address]
    torch.testing.assert_close(seen.grad.mean(address), torch.cat([gradient[0], gradient[1, :3]]).mean(dim=0))


def test_every_step_of_a_search_counts(model: Transformer) -> None:
    """After a pass over padded targets, each row of a step is a vector of its own; sources keep their padding."""
    source = padded([5, 3])
    addresses = "encoder.layers.0.self_attention.head_outputs", "decoder.layers.0.self_attention.head_outputs"
    mask = padding_mask(source, SPECIAL.pad)
    with capture(model, ["encoder.1.head_outputs", "decoder.1.head_outputs", "cross.1.head_outputs"]) as seen:
        model(source, source, mask, mask)
        assert mask_of(seen[addresses[1]]) is not None
        seen.calls.clear()
        beam_search(model, source, SPECIAL, DecodingConfig(beam=2, extra_length=2))
    torch.testing.assert_close(
        seen.mean(addresses[0]),
        torch.cat([row[:, :n].transpose(0, 1) for row, n in zip(seen[addresses[0]], (5, 3), strict=True)]).mean(dim=0),
    )
    torch.testing.assert_close(seen.mean(addresses[1]), by_hand(seen, addresses[1]))


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_compiler")
@torch.no_grad()
def test_a_compiled_model_tells_its_mask() -> None:
    model, batch = tiny_model(num_layers=1), inputs_for((5, 3), 4)
    compiled = torch.compile(model, backend="eager")
    with capture(model, "head_outputs") as eager:
        model(*batch)
    with capture(compiled, "head_outputs") as seen:  # type: ignore[arg-type]
        compiled(*batch)
    for address in eager:
        assert mask_of(seen[address]) is not None
        torch.testing.assert_close(seen.mean(address), eager.mean(address), atol=1e-5, rtol=1e-5)
