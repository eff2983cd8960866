"""Reads of the device: one for each step of search, one for the maps of a pass at its end; and these maps."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import Tensor

from tests.core.reads import CountedReads
from tests.core.tiny import SPECIAL, inputs_for, nobody_listens, padded, tiny_model
from transformer_core import Tokenizer, capture, zero
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.config import DecodingConfig, SpecialIds
from transformer_core.decoding import fused_step, incremental
from transformer_core.decoding.beam import _Sentence, beam_search
from transformer_core.decoding.candidates import NextBeam
from transformer_core.decoding.forced_maps import capture_maps, to_host
from transformer_core.decoding.greedy import greedy_search
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.hooks.points import Site, edit
from transformer_core.model.transformer import Transformer
from transformer_core.translator import TeacherForcedInput, Translator

GIVEN = SpecialIds(forced_bos=7)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int, int]]:
    """Rows, reads, values sent and operations before every step of the decoder."""
    greedy_search(tiny_model(), padded([2, 2]), SPECIAL, extra_length=1)  # oneDNN is tried out once in a process
    rows: list[tuple[int, int, int, int]] = []
    step = IncrementalDecoder.step

    def counted(self: IncrementalDecoder, tokens: Tensor, record: None = None) -> Tensor:
        mode = torch.utils._python_dispatch._get_current_dispatch_mode()
        assert isinstance(mode, CountedReads)
        rows.append((len(tokens), len(mode.reads), len(mode.sent), mode.operations))
        return step(self, tokens, record)

    monkeypatch.setattr(IncrementalDecoder, "step", counted)
    for module in (fused_step, incremental):  # as on a GPU, where packed weights are not kept
        monkeypatch.setattr(module, "kept", lambda owner, weights, rows, pack: pack())
    return rows


def never_ending(model: Transformer) -> Transformer:
    with torch.no_grad():
        model.embedding.weight[SPECIAL.eos] = 0
        model.embedding.weight[4:] += 1
    return model


def search(model: Transformer, source: Tensor, beam: int, special: SpecialIds = SPECIAL) -> CountedReads:
    with CountedReads() as reads:
        if beam:
            beam_search(model, source, special, DecodingConfig(beam=beam, extra_length=6, min_length=3))
        else:
            greedy_search(model, source, special, extra_length=6)
    return reads


@pytest.mark.parametrize("special", [SPECIAL, GIVEN], ids=["free", "given"])
@pytest.mark.parametrize("beam", [0, 1, 4], ids=["greedy", "beam of 1", "beam of 4"])
@pytest.mark.parametrize("opened", [False, True], ids=["fused", "with hooks"])
def test_step_reads_once(steps: list[tuple[int, int, int, int]], special: SpecialIds, beam: int, opened: bool) -> None:
    """Also the step after which sentences leave, which alone sends something: their numbers."""
    seen: list[int] = []

    def see(value: Tensor, site: Site) -> None:
        seen.append(len(value))

    model, source = tiny_model(seed=3), padded([5, 3, 9, 9])
    source[torch.arange(4), torch.tensor([4, 2, 8, 8])] = SPECIAL.eos
    side, attention = ("decoder", "cross_attention") if opened else ("encoder", "self_attention")
    with edit(model, f"{side}.layers.1.{attention}.head_outputs", see):
        reads = search(model, source, beam, special)
    assert len(seen) == (len(steps) if opened else 1)
    rows, read, sent, _ = zip(*steps, (0, len(reads.reads), len(reads.sent), 0), strict=True)
    assert len(set(rows)) > 2, "nothing leaves the batch"
    assert [after - before for before, after in pairwise(read)] == [1] * len(steps)
    left = [before != after for before, after in pairwise(rows[:-1])] + [False]
    assert [after - before for before, after in pairwise(sent)] == left
    assert reads.reads[: read[0]] == ["tolist"], "the lengths of the sources"


@pytest.mark.parametrize("beam", [0, 4], ids=["greedy", "beam of 4"])
def test_many_sentences_cost_no_more_operations(steps: list[tuple[int, int, int, int]], beam: int) -> None:
    """A batch of 128 in one go; each is what it is alone."""
    model = never_ending(tiny_model())
    cost = []
    for batch in (2, 128):
        source = padded([6] * batch)
        source[:, -1] = SPECIAL.eos
        steps.clear()
        search(model, source, beam)
        counts = [operations for *_, operations in steps]
        cost.append([after - before for before, after in pairwise(counts)])
        assert steps[-1][0] == batch * max(beam, 1)
    assert cost[0] == cost[1]


def test_the_next_step_is_launched_before_the_last_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    def noted(owner: type, name: str, event: str) -> None:
        method = getattr(owner, name)

        def call(self: object, *args: object) -> object:
            events.append(event)
            return method(self, *args)

        monkeypatch.setattr(owner, name, call)

    noted(IncrementalDecoder, "step", "launch")
    noted(NextBeam, "read", "read")
    noted(_Sentence, "_record", "record")
    source = padded([6])
    beam_search(never_ending(tiny_model()), source, SPECIAL, DecodingConfig(beam=2, extra_length=1, alpha=0.0))
    assert (events[:2], events[-1]) == (["launch", "read"], "record")
    assert events[2:-1] == ["launch", "record", "read"] * ((len(events) - 3) // 3)
    assert len(events) > 9


@torch.no_grad()
def test_the_maps_are_those_of_capture() -> None:
    model = tiny_model()
    inputs = inputs_for((5, 3), 4)
    with edit(model, "encoder.1.2", zero):
        with capture_maps(model) as maps:
            model(*inputs)
        with capture(model) as captured:
            model(*inputs)
    for kind, side in zip(
        KINDS, ("encoder.layers.{}.self", "decoder.layers.{}.self", "decoder.layers.{}.cross"), strict=True
    ):
        expected = torch.stack([captured[f"{side.format(layer)}_attention.weights"] for layer in range(2)])
        assert torch.equal(maps[kind], expected)
        assert to_host(maps)[kind] is maps[kind], "on a CPU they are there already"
    with capture_maps(model, kinds={"cross"}) as maps:
        model(*inputs)
    assert set(maps) == {"cross"}
    assert nobody_listens(model)


def test_nothing_is_read_before_the_end(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    reads_before: list[list[str]] = []
    sizes: list[dict[Kind, int]] = []
    for layers in (2, 5):
        model = tiny_model(vocab_size=len(tokenizer), num_layers=layers)
        translator = Translator(model, tokenizer, DecodingConfig())
        encodings = [translator.encode(text) for text in ("The man sees a house.", "A child buys the green door.")]
        pairs = [TeacherForcedInput(each, each.ids) for each in encodings]
        with CountedReads() as reads:

            def at_the_end(maps: dict[Kind, Tensor], reads: CountedReads = reads) -> dict[Kind, Tensor]:
                reads_before.append(list(reads.reads))
                sizes.append({kind: len(each) for kind, each in maps.items()})
                return maps

            monkeypatch.setattr("transformer_core.translator.to_host", at_the_end)
            result = translator.attention_batch(pairs)
        assert all(maps.weights(kind).base is None for maps in result for kind in KINDS), "keeps the batch alive"
    assert sizes == [dict.fromkeys(KINDS, layers) for layers in (2, 5)]
    assert reads_before == [[], []]
