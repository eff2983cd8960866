"""Exported models in the programs that they were written for, beside ours on the same sentences."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.core.conversion.twins import hostile_strings
from tests.core.tiny import sentence_pairs
from transformer_core.data import Batch, make_batch
from transformer_core.decoding.beam import Hypothesis
from transformer_core.model.masks import padding_mask
from transformer_core.translator import Translator

CHECKPOINTS = Path(__file__).resolve().parents[3] / "checkpoints"
HOSTILE = hostile_strings()
# MarianTokenizer takes everything up to << for the name of a language, also in models that have none.
LANGUAGE_LIKE = [text for text in HOSTILE if text.startswith(">>") and "<<" in text]


def sentences(count: int) -> list[str]:
    """English sentences, all different, in drawn order."""
    rows = [source for source, _ in sentence_pairs()]
    random.Random(1).shuffle(rows)
    return rows[:count]


@dataclass(frozen=True)
class Marian:
    """Model that transformers loads from a folder."""

    model: Any
    tokenizer: Any

    @classmethod
    def load(cls, folder: Path) -> Marian:
        from transformers import MarianMTModel, MarianTokenizer

        model = MarianMTModel.from_pretrained(folder).eval()
        model.set_attn_implementation("eager")
        return cls(model, MarianTokenizer.from_pretrained(folder))

    def token_ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text).input_ids
        return ids

    def logits(self, batch: Batch, pad: int) -> Tensor:
        mask = (batch.source != pad).long()
        with torch.no_grad():
            out = self.model(input_ids=batch.source, attention_mask=mask, decoder_input_ids=batch.inputs)
        result: Tensor = out.logits
        return result

    def texts(self, texts: Sequence[str], **options: Any) -> list[str]:
        encoded = self.tokenizer(list(texts), return_tensors="pt", padding=True)
        result = self.model.generate(**encoded, **options)
        return [self.tokenizer.decode(row, skip_special_tokens=True) for row in result]


def searched(translator: Translator, texts: Sequence[str], beam: int) -> list[Hypothesis]:
    encodings = [translator.encode(text).ids for text in texts]
    return [result.hypotheses[0] for result in translator.search(encodings, beam=beam, constrained=False)]


def read_batch(translator: Translator, texts: Sequence[str], result: Sequence[Hypothesis]) -> Batch:
    """The sentences and their translations as the model reads them."""
    sources = [translator.encode(text).ids for text in texts]
    return make_batch(sources, [each.ids for each in result], translator.tokenizer.special)


def own_logits(translator: Translator, batch: Batch) -> Tensor:
    with torch.no_grad():
        mask = padding_mask(batch.source, translator.tokenizer.special.pad)
        result: Tensor = translator.model(batch.source, batch.inputs, mask)
    return result


def furthest(one: Tensor, other: Tensor, batch: Batch, pad: int) -> float:
    """The largest difference of logits where the target is not padding."""
    return float((one - other)[batch.outputs != pad].abs().max())


def count_texts(translator: Translator, texts: Sequence[str], said: Sequence[str], beam: int) -> Counter[str]:
    """Counts of texts that are the same, tied (another text that scores alike), or different."""
    result: Counter[str] = Counter()
    for ours, theirs, source in zip(searched(translator, texts, beam), said, texts, strict=True):
        text = translator.tokenizer.decode(ours.ids)
        if text == theirs:
            result["same"] += 1
            continue
        score = translator.score([(source, text), (source, theirs)])
        result["tied" if abs(score[0] - score[1]) < 1e-3 else "different"] += 1
    return result
