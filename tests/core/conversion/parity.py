"""A converted model beside transformers: states, every attention, logits, texts."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tests.core.conversion.twins import Twin, sources
from transformer_core.data import make_batch
from transformer_core.hooks.points import capture
from transformer_core.model.masks import padding_mask
from transformer_core.text.vocab_json_tokenizer import ListedTokenizer

ROOM = 60


def padded_ids(twin: Twin, lengths: Sequence[int], seed: int = 2) -> tuple[Tensor, Tensor]:
    """(B, S) sources and (B, T) decoder inputs of drawn tokens, padded."""
    special, generator = twin.converted.tokenizer.special, torch.Generator().manual_seed(seed)
    of_source, of_target = len(twin.converted.tokenizer.source), len(twin.converted.tokenizer)
    reserved = {special.pad, special.bos, special.eos, special.unk}

    def row(length: int, size: int) -> list[int]:
        ids = torch.randint(0, size, (4 * length + 20,), generator=generator).tolist()
        return [i for i in ids if i not in reserved][:length]

    rows = [(row(length, of_source), row(max(1, length // 2 + 1), of_target)) for length in lengths]
    batch = make_batch([source for source, _ in rows], [target for _, target in rows], special)
    return batch.source, batch.inputs


@torch.no_grad()
def check_tensors(twin: Twin, lengths: Sequence[int]) -> None:
    """Encoder states, every layer's attention of the three kinds, and logits agree to 1e-5 where nothing is padding."""
    source, inputs = padded_ids(twin, lengths)
    pad = twin.converted.tokenizer.special.pad
    ours, mask = twin.converted.model, padding_mask(source, pad)
    with capture(ours, "weights") as weights:
        memory = ours.encode(source, mask)
        logits = ours.logits(ours.decode(inputs, memory, mask))
    theirs = twin.model(
        input_ids=source,
        attention_mask=(source != pad).long(),
        decoder_input_ids=inputs,
        output_attentions=True,
        output_hidden_states=True,
    )
    for row, length in enumerate(lengths):
        s, t = length + 1, max(1, length // 2 + 1) + 1
        _same(memory[row, :s], theirs.encoder_last_hidden_state[row, :s])
        _same(logits[row, :t], theirs.logits[row, :t])
        for layer in range(ours.config.num_layers):
            for kind, rows, keys, result in (
                ("encoder.layers.{}.self_attention", s, s, theirs.encoder_attentions),
                ("decoder.layers.{}.self_attention", t, t, theirs.decoder_attentions),
                ("decoder.layers.{}.cross_attention", t, s, theirs.cross_attentions),
            ):
                own = weights[f"{kind.format(layer)}.weights"][row, :, :rows, :keys]
                _same(own, result[layer][row, :, :rows, :keys])


def _same(ours: Tensor, theirs: Tensor) -> None:
    assert ours.shape == theirs.shape
    assert float((ours - theirs).abs().max()) <= 1e-5


def _generated(twin: Twin, texts: Sequence[str], **options: Any) -> Any:
    special = twin.converted.tokenizer.special
    encoded = twin.tokenizer(list(texts), return_tensors="pt", padding=True)
    return twin.model.generate(
        input_ids=encoded["input_ids"],
        attention_mask=encoded["attention_mask"],
        max_new_tokens=ROOM,
        do_sample=False,
        suppress_tokens=special.never_generated,
        return_dict_in_generate=True,
        output_scores=True,
        length_penalty=1.0,
        forced_eos_token_id=None,
        **{**twin.generate, **options},
    )


def compare_texts(twin: Twin, count: int, *, beam: int) -> Counter[str]:
    """Counts of texts that are the same, tied (another text of the same score), cut off by the limit, or different.

    Each batch has another minimum length, or models with random weights would say little. `distinct` counts texts.
    """
    result: Counter[str] = Counter()
    texts, said_by_us = sources(count), set[str]()
    for number, start in enumerate(range(0, count, 8)):
        some, least = texts[start : start + 8], 1 + number % 9
        decoding = twin.converted.decoding.replace(extra_length=ROOM, min_length=least, early_stopping=number % 2 == 1)
        translator = twin.converted.with_languages()
        translator.decoding = decoding
        theirs = _generated(
            twin, some, num_beams=beam, min_new_tokens=least, early_stopping=beam > 1 and decoding.early_stopping
        )
        said = [twin.tokenizer.decode(_text_ids(twin, row), skip_special_tokens=True) for row in theirs.sequences]
        ours = translator.translate_batch(some, beam=beam)
        for row, (mine, text) in enumerate(zip(ours, said, strict=True)):
            said_by_us.add(mine.text)
            ended = translator.tokenizer.special.eos in theirs.sequences[row, 1:].tolist()
            if not (ended and all(each.finished for each in mine.hypotheses)):
                result["cut off"] += 1
            elif plain(mine.text) == plain(text):
                result["same"] += 1
            elif beam > 1 and abs(mine.hypotheses[0].score - float(theirs.sequences_scores[row])) < 1e-5:
                result["tied"] += 1
            else:
                result["different"] += 1
    result["distinct"] = len(said_by_us)
    return result


def _text_ids(twin: Twin, row: Tensor) -> list[int]:
    """Ids without ids of languages, which the tokenizer of M2M-100 in transformers 5 shows as text."""
    tokenizer = twin.converted.tokenizer
    assert isinstance(tokenizer, ListedTokenizer)
    languages = {tokenizer.vocabulary.of_target.get(token) for token in tokenizer.vocabulary.languages.values()}
    return [each for each in row.tolist() if each not in languages]


def check_texts(result: Counter[str]) -> None:
    """No text differs, most of them end by themselves, and they are not all alike."""
    count = sum(result.values()) - result["distinct"]
    assert result["different"] == 0, result
    assert result["same"] >= 0.7 * count and result["distinct"] >= min(10, count // 8), result


def plain(text: str) -> str:
    """A text without differences that are no text: blanks at its ends and doubled ones."""
    return " ".join(unicodedata.normalize("NFC", text).split())
