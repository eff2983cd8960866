"""All maps of a pass in one tensor for each kind, as `capture` has them, and nothing is read before the end."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.core.reads import CountedReads
from tests.core.tiny import inputs_for, nobody_listens, tiny_model
from transformer_core import DecodingConfig, Tokenizer, capture, edit, zero
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.decoding.forced_maps import capture_maps, to_host
from transformer_core.translator import TeacherForcedInput, Translator


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
