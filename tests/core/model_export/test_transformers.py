"""Checkpoints as MarianMTModel and MarianTokenizer load them: tokens, attention, logits, texts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.core.conversion.families import TWINS
from tests.core.conversion.parity import check_tensors, check_texts, compare_texts
from tests.core.conversion.twins import SOURCES, Twin, tokens_model
from tests.core.model_export.peers import (
    CHECKPOINTS,
    HOSTILE,
    LANGUAGE_LIKE,
    Marian,
    count_texts,
    furthest,
    own_logits,
    read_batch,
    searched,
    sentences,
)
from tests.core.tiny import SPECIAL
from transformer_core import Tokenizer, Translator, load_checkpoint
from transformer_core.conversion import convert
from transformer_core.model_export import export_model
from transformer_core.text.vocab_json_tokenizer import ListedTokenizer

SHIPPED = ("en-de", "en-fr-small", "en-tree")
MARIAN = [name for name in TWINS if name.startswith("marian")]


@pytest.fixture(scope="module")
def shipped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Translator, Marian]:
    """A shipped model, and what transformers makes of its export."""
    out = tmp_path_factory.mktemp("export") / request.param
    export_model(CHECKPOINTS / request.param, out, "transformers")
    return Translator.load(CHECKPOINTS / request.param), Marian.load(out)


@pytest.fixture(scope="module")
def twin(
    request: pytest.FixtureRequest, twins: Callable[[str], Twin], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Twin, Path]:
    """A converted model, exported again: with what transformers loads from that; and the folder of the first one."""
    made = twins(request.param)
    folder, out = made.folder.parent, tmp_path_factory.mktemp("exported") / "theirs"
    export_model(folder / "ours", out, "transformers")
    theirs = Marian.load(out)
    return Twin(out, theirs.model, theirs.tokenizer, {}, made.converted), folder


@pytest.mark.parametrize("shipped", SHIPPED, indirect=True)
def test_the_tokens_of_shipped_models_are_the_same(shipped: tuple[Translator, Marian]) -> None:
    """On hostile strings too, but for those that begin as OPUS-MT names languages."""
    translator, theirs = shipped
    eos = translator.tokenizer.special.eos
    differ = [
        text
        for text in (*sentences(100), *HOSTILE)
        if [*translator.tokenizer.source.encode(text).ids, eos] != theirs.token_ids(text)
    ]
    assert differ == LANGUAGE_LIKE


@pytest.mark.parametrize("shipped", SHIPPED, indirect=True)
def test_logits_and_greedy_texts_of_shipped_models(shipped: tuple[Translator, Marian]) -> None:
    _compare_shipped(*shipped, sentences(16))


@pytest.mark.slow
@pytest.mark.parametrize("shipped", SHIPPED, indirect=True)
def test_logits_and_greedy_texts_of_shipped_models_on_many_sentences(shipped: tuple[Translator, Marian]) -> None:
    _compare_shipped(*shipped, sentences(200))


def _compare_shipped(translator: Translator, theirs: Marian, texts: list[str]) -> None:
    for start in range(0, len(texts), 20):
        some = texts[start : start + 20]
        batch = read_batch(translator, some, searched(translator, some, 1))
        pad = translator.tokenizer.special.pad
        assert furthest(own_logits(translator, batch), theirs.logits(batch, pad), batch, pad) < 1e-3
        result = count_texts(translator, some, theirs.texts(some, num_beams=1), 1)
        assert result["same"] + result["tied"] == len(some) and result["tied"] <= 1


@pytest.mark.parametrize("shipped", ["en-de"], indirect=True)
def test_a_beam_under_a_length_penalty_that_both_have(shipped: tuple[Translator, Marian]) -> None:
    translator, theirs = shipped
    twin = translator.with_languages()
    twin.decoding = translator.decoding.replace(length_penalty="power", alpha=1.0)
    texts = sentences(16)
    result = count_texts(twin, texts, theirs.texts(texts, num_beams=4, length_penalty=1.0), 4)
    assert result["same"] == len(texts)


@pytest.mark.parametrize("twin", MARIAN, indirect=True)
def test_what_was_converted_goes_back(twin: tuple[Twin, Path]) -> None:
    """Every attention and logit to 1e-5, texts of greedy and beam search, and the vocabulary."""
    peer, folder = twin
    check_tensors(peer, (5, 2, 9))
    for beam in (1, 4):
        check_texts(compare_texts(peer, 16, beam=beam))
    for name in ("source.spm", "target.spm"):
        assert (peer.folder / name).read_bytes() == (folder / "theirs" / name).read_bytes()
    assert _json(peer.folder / "vocab.json") == _json(folder / "theirs" / "vocab.json")
    before, after = (_json(each / "config.json") for each in (folder / "theirs", peer.folder))
    changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    # Three matrices are three in the file, even where two of them are equal.
    assert changed <= ({"share_encoder_decoder_embeddings"} if not before["tie_word_embeddings"] else set())


@pytest.mark.parametrize("twin", MARIAN, indirect=True)
def test_the_round_trip_ends_where_it_began(twin: tuple[Twin, Path], tmp_path: Path) -> None:
    peer, folder = twin
    convert(peer.folder, tmp_path / "again")
    first, second = (load_checkpoint(each) for each in (folder / "ours", tmp_path / "again"))
    weights, again = first.model.state_dict(), second.model.state_dict()
    assert weights.keys() == again.keys()
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    assert first.model.config.replace(layer_norm_epsilon=1e-5, max_positions=1) == second.model.config.replace(
        max_positions=1
    )
    assert isinstance(first.tokenizer, ListedTokenizer) and isinstance(second.tokenizer, ListedTokenizer)
    assert first.tokenizer.vocabulary == second.tokenizer.vocabulary
    assert first.decoding.replace(extra_length=1) == second.decoding.replace(extra_length=1)


@pytest.mark.parametrize("positions", ["learned", "none", "tensor2tensor"])
def test_other_positions_lie_in_the_file(positions: str, drawn_checkpoint: partial[Path], tmp_path: Path) -> None:
    folder = drawn_checkpoint(positions=positions, max_positions=40)
    exported = export_model(folder, tmp_path / "out", "transformers")
    assert any("holds the positions" in note for note in exported.notes)
    translator, theirs = Translator.load(folder), Marian.load(tmp_path / "out")
    batch = read_batch(translator, ["a b c", "d"], searched(translator, ["b", "c d"], 1))
    logits = theirs.logits(batch, SPECIAL.pad)
    assert furthest(own_logits(translator, batch), logits, batch, SPECIAL.pad) < 1e-3


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_bytes_in_place_of_unknown_characters(kind: str, drawn_checkpoint: partial[Path], tmp_path: Path) -> None:
    """Tokens such as <0xEA> are in the list, and are joined to characters again; those that are none become U+FFFD."""
    ids = {"pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3}
    tokenizer = Tokenizer(tokens_model(SOURCES, 420, kind, byte_fallback=True, **ids))
    folder = drawn_checkpoint(tokenizer=tokenizer)
    export_model(folder, tmp_path / "out", "transformers")
    theirs = Marian.load(tmp_path / "out").tokenizer
    for text in HOSTILE:
        if text not in LANGUAGE_LIKE:
            assert [*tokenizer.encode(text).ids, tokenizer.special.eos] == theirs(text).input_ids, text
    assert any("<0x" in token for token in tokenizer.encode("한").tokens)
    chance = random.Random(2)
    for _ in range(200):
        drawn = chance.choices(range(4, len(tokenizer)), k=chance.randint(1, 12))
        assert theirs.decode(drawn) == tokenizer.decode(drawn).strip()
    for text in ("한국어 🙂", "The man"):
        assert theirs.decode(theirs(text).input_ids, skip_special_tokens=True) == text


def test_where_it_came_from_is_written_down(tmp_path: Path) -> None:
    exported = export_model(CHECKPOINTS / "en-fr-small", tmp_path / "out", "transformers")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    own = (CHECKPOINTS / "en-fr-small" / "README.md").read_text(encoding="utf-8")
    assert exported.checkpoint_hash in card and card.endswith(own) and "## Data and licences" in own
    assert all(f"* {note}\n" in card for note in exported.notes)
    assert _json(tmp_path / "out" / "headlight.json")["checkpoint_hash"] == exported.checkpoint_hash


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
