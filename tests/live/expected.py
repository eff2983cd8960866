"""What Python makes of texts, written for compare.js, which asks the browser's translator the same."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from transformer_core.analysis.ablation import all_heads, translate_without
from transformer_core.analysis.effects.head_effects import head_effects
from transformer_core.attention_maps import KINDS
from transformer_core.decoding.beam import SearchResult
from transformer_core.head import Head
from transformer_core.translator import Translator
from viz_app.explorer_view.flow import flow_data
from viz_app.explorer_view.live_model import ANSWERS, live_model
from viz_app.explorer_view.snapshot import best_head, payload
from viz_app.export.provenance import checkpoint_record
from viz_app.serving.input_validation import MAX_CHARACTERS, MAX_TOKENS, validate_sentence
from viz_app.serving.models.search_tree import branch_ends, branch_translation, search_tree
from viz_app.serving.models.translation_service import BEAM, TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.text import texts

_BATCH = 32
CASES = ("texts", "searches", "maps", "payloads", "off", "effects", "flows")

# Unicode that a normaliser changes or a vocabulary lacks, besides what a reader types.
_BLOCKS = (
    (0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x600, 0x6FF), (0x2000, 0x206F), (0x2150, 0x218F), (0x2460, 0x24FF),
    (0x1100, 0x11FF), (0x2581, 0x2581), (0x3040, 0x30FF), (0x4E00, 0x4FFF), (0xAC00, 0xD7A3), (0xFB00, 0xFDFF),
    (0xFE00, 0xFEFF), (0xFF00, 0xFFEF), (0x1F300, 0x1F64F), (0x20000, 0x20FFF), (0xD800, 0xDBFF), (0, 0x1F),
)  # fmt: skip
_WORDS = (
    " ", "  ", "\t", "\u3000", "\u00a0", "\u2581", "the", "The old dog", "isn't", "\u2026", "\ufb01", "\u00bd", "chien",
    "e\u0301", "\u00c5", "\u2603", "\ufeff", "Stra\u00dfe", "\u6f22\u5b57", "\u0e01\u0e33", "\u00ad", ".", ",", "19",
    "\u20ac3,50", "\u201cWhy?\u201d", "-", "\u2013", "\ufdfa", "\uac1c", "X" * 40,
)  # fmt: skip


def random_texts(count: int, seed: int = 3) -> list[str]:
    """Half of them any characters, half of them words and signs."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        length = draw.randint(0, 24)
        if number % 2:
            rows.append("".join(draw.choice(_WORDS) for _ in range(length)))
        else:
            rows.append("".join(chr(draw.randint(*draw.choice(_BLOCKS))) for _ in range(length)))
    return rows


def shipped_sentences(folder: Path) -> list[str]:
    """The sentences on the cards of a model's heads."""
    examples = json.loads((folder / "derived" / "atlas.json").read_text(encoding="utf-8"))["examples"]
    return list(dict.fromkeys(examples["sentences"].values()))


class Expected:
    """A folder with what Python says of one model; `write` ends it.

    Args:
        folder: Where it goes.
        checkpoint: The model.
        language: Of the app's words.
    """

    def __init__(self, folder: Path, checkpoint: Path, language: str = "en") -> None:
        self.folder, self.checkpoint = folder, checkpoint
        self.translator = Translator.load(checkpoint)
        self.service = TranslationService(self.translator, RequestQueue(1), name=checkpoint.name)
        self.t = texts(language, source=self.service.source_language)
        self.cases: dict[str, list[Any]] = {name: [] for name in CASES}

    def write(self) -> Path:
        """Write everything; return the folder."""
        (self.folder / "live.json").write_text(json.dumps(live_model(self.service, self.t)))
        cases = {"checkpoint": str(self.checkpoint), **self.cases}
        (self.folder / "expected.json").write_text(json.dumps(cases))
        return self.folder

    def texts(self, given: Iterable[str]) -> None:
        """Ids, tokens, unknown characters and the text of the ids; whether the app accepts it, and what it says."""
        tokenizer, reads = self.translator.tokenizer, self.service.source_language
        for text in given:
            ids = tokenizer.encode(text)
            case: dict[str, Any] = {"text": text, "ids": ids.ids, "tokens": ids.tokens}
            case |= {"decoded": tokenizer.decode(ids.ids), "unknown": ids.unknown_characters(text)}
            if len(text) > MAX_CHARACTERS:
                case["sentence"] = {"status": "refused", "tokens": len(text), "limit": MAX_CHARACTERS}
            else:
                sentence = validate_sentence(text, tokenizer, reads=reads)
                parts = ("tokens", "limit", "unknown") if sentence.status == "good" else ()
                case["sentence"] = {part: getattr(sentence, part) for part in ("text", "status", *parts)}
            case["refusal"] = self._refusal(case["sentence"]["status"], len(ids), len(text))
            self.cases["texts"].append(case)

    def _refusal(self, status: str, tokens: int, characters: int) -> str:
        """What the app says of a sentence that it does not translate: app_pages/translate.py and shell.py."""
        t = self.t
        if status == "refused":
            return t("frame.too_long", characters=f"{characters:,}", limit=f"{MAX_CHARACTERS:,}")
        if status == "long":
            return t("translate.long", tokens=tokens, limit=MAX_TOKENS, over=tokens - MAX_TOKENS)
        if status == "good":
            return ""
        return f"{t('translate.korean')} {t('translate.empty')}" if status == "korean" else t("translate.empty")

    def searches(self, sentences: Sequence[str], *, beam: int = BEAM, prefixes: Sequence[Sequence[int]] = ()) -> None:
        """Hypotheses, and every node of the history."""
        translator = self.translator
        order = sorted(range(len(sentences)), key=lambda number: len(sentences[number]))
        for start in range(0, len(order), _BATCH):
            numbers = order[start : start + _BATCH]
            encoded = [translator.encode(sentences[number]).ids for number in numbers]
            begun = [prefixes[number] for number in numbers] if prefixes else None
            results = translator.search(encoded, beam=beam, prefixes=begun)
            for number, result in zip(numbers, results, strict=True):
                case = {"text": sentences[number], "beam": beam, "prefix": list(prefixes[number]) if prefixes else []}
                self.cases["searches"].append(case | self._plain(result))

    def _plain(self, result: SearchResult) -> dict[str, Any]:
        nodes = result.history
        return {
            "translation": self.translator.tokenizer.decode(result.hypotheses[0].ids),
            "hypotheses": [[each.ids, each.finished, each.node] for each in result.hypotheses],
            "scores": [each.score for each in result.hypotheses],
            "nodes": [[each.parent, each.step, each.token, each.status] for each in nodes],
            "logs": [[each.log_probability, each.token_log_probability] for each in nodes],
            "alternatives": [each.alternatives for each in nodes],
        }

    def maps(self, sentences: Iterable[str]) -> None:
        """All weights of a translation as float32, one kind after the other."""
        for sentence in sentences:
            maps = self.translator.translate(sentence, beam=BEAM).attention
            name = f"maps{len(self.cases['maps'])}.bin"
            arrays = [np.ascontiguousarray(maps.weights(kind), "<f4") for kind in KINDS]
            (self.folder / name).write_bytes(b"".join(array.tobytes() for array in arrays))
            self.cases["maps"].append({"text": sentence, "file": name, "shapes": [array.shape for array in arrays]})

    def payloads(self, sentences: Iterable[str], branches: Sequence[int] = (0,)) -> None:
        """The explorer's payload of some branches, as the page Translate packs it."""
        service, translator = self.service, self.translator
        for sentence in sentences:
            best = translator.translate(sentence, beam=BEAM)
            count = len(branch_ends(best))
            for branch in (each for each in branches if each < count):
                shown = branch_translation(best, branch, translator)
                decoding = translator.decoding.replace(beam=BEAM)
                about = {"text": sentence, "source": sentence, "model": service.name, "own": service.name}
                packed = payload(
                    TranslationResult(shown, shown.attention),
                    self.t,
                    best_head(service.card, best.attention),
                    service.card,
                    beam=search_tree(best, translator.tokenizer, decoding, branch),
                    about={
                        **about,
                        "models": [],
                        "titles": {},
                        "answers": ANSWERS | checkpoint_record(service.translator),
                    },
                )
                name = f"payload{len(self.cases['payloads'])}.bin"
                (self.folder / name).write_bytes(packed)
                self.cases["payloads"].append({"text": sentence, "branch": branch, "file": name})

    def off(self, sentence: str, groups: Iterable[Sequence[Head]]) -> None:
        """The translation without some heads, and the log-probability that the one with all heads has then."""
        original = self.translator.translate(sentence, beam=BEAM)
        for heads in groups:
            result = translate_without(self.translator, original, heads, beam=BEAM)
            self.cases["off"].append(
                {
                    "text": sentence,
                    "heads": [{"kind": kind, "layer": layer, "head": head} for kind, layer, head in heads],
                    "translation": result.text,
                    "words": result.words,
                    "original": result.original,
                    "before": result.before,
                    "after": result.log_probability,
                    "worst": result.worst,
                }
            )

    def effects(self, sentence: str) -> None:
        """The effect of every head on the translation."""
        text = self.translator.translate(sentence, beam=BEAM).text
        totals = head_effects(self.translator, sentence, text).totals.tolist()
        effects = dict(zip(map(str, all_heads(self.translator)), totals, strict=True))
        self.cases["effects"].append({"text": sentence, "effects": effects})

    def flows(
        self,
        sentence: str,
        *,
        branch: int = 0,
        prefix: Sequence[int] = (),
        at: int | None = None,
        against: str | None = None,
    ) -> None:
        """The flow of all words of a branch, or of the word `at` against another token."""
        translator = self.translator
        best = translator.translate(sentence, beam=BEAM, prefix=prefix)
        if branch >= len(branch_ends(best)):
            return
        positions = None if at is None else range(at, at + 1)
        shown = branch_translation(best, branch, translator)
        case = {"text": sentence, "branch": branch, "prefix": list(prefix), "at": at, "against": against}
        case["flow"] = flow_data(translator, shown, self.service.name, positions, against)
        self.cases["flows"].append(case)
