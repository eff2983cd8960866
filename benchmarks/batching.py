"""Compare sentences decoded together with the same decoded alone, and throughput with CTranslate2's.

    python -m benchmarks.batching --sentences FILE [FILE ...] [--count N] [--batch N] [--timed N] [--quick]

Equality: sentences are shuffled and cut into batches of random sizes, twice: as the app would put them together, and
without regard to length. Each is compared with the same sentence decoded alone: text, hypotheses, scores and every
weight of attention. For a sentence that differs, `gap` is the distance in nats of the two candidates, in the search
alone, of which each search preferred one. It is a tie when the gap is at most twice what each score may be off. Scores
in double precision tell how much of a difference is float32's own.

Throughput: sentences a second and core of `decode_together` (search and attention), of the search alone, and of
CTranslate2 with the same weights (python -m pip install ctranslate2): on the same batches, and on batches that it
makes itself from all sentences. It computes no attention here. Its length penalty is a power of the length and it stops
at the fourth hypothesis that ends, so its translations are also compared with ours under that penalty.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import interleaved, read_options, report, table
from benchmarks.peers.search_difference import first_difference, score_in_double
from benchmarks.peers.twins import SPECIAL, copy_weights, ctranslate2_of, marian, tokens_of
from transformer_core.config import DecodingConfig
from transformer_core.data import read_columns
from transformer_core.progress import tracked
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import Translator
from viz_app.serving.decoding.decoded_batch import Decoded, decode_together
from viz_app.serving.decoding.decoding_limits import MAX_BATCH_SIZE, same_bucket

TOLERANCE = 1e-5
TIE = 2 * TOLERANCE  # nats; both candidates may be off
KINDS = ("score", "token", "any score", "attention", "alone from float64", "together from float64")
COUNTS = ("batches", "sentences", "same_text", "same_hypotheses")
Fits = Callable[[Encoding, Encoding], bool]


def read_sentences(files: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Different sentences, shuffled, about equally many from each file."""
    chosen: dict[str, None] = {}
    for number, file in enumerate(files):
        texts = [text for (text,) in read_columns(file, (0,)) if text.strip() and text not in chosen]
        texts = list(dict.fromkeys(texts))
        share = (count - len(chosen)) // (len(files) - number)
        chosen.update(dict.fromkeys(rng.sample(texts, min(share, len(texts)))))
    sentences = list(chosen)
    rng.shuffle(sentences)
    return sentences


def batches_of(encodings: Sequence[Encoding], sizes: Iterator[int], fits: Fits) -> list[list[int]]:
    """Return the numbers of the sentences of each batch: the first in line takes along all that fit, in order."""
    waiting, batches = list(range(len(encodings))), []
    while waiting:
        first = waiting[0]
        batch = [number for number in waiting if fits(encodings[first], encodings[number])][: next(sizes)]
        batches.append(batch)
        waiting = [number for number in waiting if number not in batch]
    return batches


def decode(translator: Translator, encodings: Sequence[Encoding]) -> list[Decoded]:
    """Search and attention, as the app computes them."""
    decoded = decode_together(translator, encodings, translator.decoding.beam, lambda: False, lambda number: False)
    return [each for each in decoded if isinstance(each, Decoded)]


@dataclass
class Comparison:
    """Sentences decoded together against the same ones alone.

    Differences are kept as `score` and `token` of the best hypothesis, where the text is the same: its score, and the
    log-probabilities of its tokens in nats; `any score`, of all hypotheses that are the same; and `attention`, all
    weights of the best one. Beside them, how far the score of the best one is from that in double precision.

    Args:
        batches: How many.
        sentences: How many.
        same_text: Of these, the best hypothesis is the same.
        same_hypotheses: All hypotheses are the same, in the same order.
        largest: The largest difference of each kind.
        beyond: Sentences that have a difference of that kind beyond the tolerance.
        different: What is known of each sentence whose hypotheses differ.
    """

    batches: int = 0
    sentences: int = 0
    same_text: int = 0
    same_hypotheses: int = 0
    largest: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    beyond: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    different: list[dict[str, Any]] = field(default_factory=list)

    def add(self, sentence: int, alone: Decoded, together: Decoded, exact: float, decoding: DecodingConfig) -> None:
        """Compare one sentence, whose best hypothesis has, alone, the score `exact` in double precision."""
        ours, theirs = alone.result.hypotheses, together.result.hypotheses
        same = [a.ids == b.ids and a.finished == b.finished for a, b in zip(ours, theirs, strict=False)]
        self.sentences += 1
        self.same_text += same[0]
        if all(same) and len(ours) == len(theirs):
            self.same_hypotheses += 1
        else:
            where, gap = first_difference(alone.result, together.result, decoding)
            self.different.append(
                {
                    "sentence": sentence,
                    "same_text": same[0],
                    "where": where,
                    "gap": f"{gap:.1e}",
                    "tie": gap <= TIE,
                    "scores": [ours[0].score, theirs[0].score],
                }
            )
        scores = [abs(a.score - b.score) for a, b, is_same in zip(ours, theirs, same, strict=False) if is_same]
        differences = {"any score": max(scores, default=0.0)}
        if same[0]:
            tokens = zip(ours[0].log_probabilities, theirs[0].log_probabilities, strict=True)
            maps = [(getattr(alone.maps, s), getattr(together.maps, s)) for s in ("encoder", "decoder", "cross")]
            differences["score"] = scores[0]
            differences["alone from float64"] = abs(ours[0].score - exact)
            differences["together from float64"] = abs(theirs[0].score - exact)
            differences["token"] = max(abs(a - b) for a, b in tokens)
            differences["attention"] = max(float(np.abs(a - b).max()) for a, b in maps)
        for kind, difference in differences.items():
            self.largest[kind] = max(self.largest[kind], difference)
            self.beyond[kind] += difference > TOLERANCE

    def answer(self) -> dict[str, Any]:
        """Return the numbers for the line of JSON."""
        texts = [each for each in self.different if not each["same_text"]]
        return {
            **{name: getattr(self, name) for name in COUNTS},
            "largest": {kind: f"{value:.1e}" for kind, value in self.largest.items()},
            "beyond": self.beyond,
            "ties": {"text": sum(e["tie"] for e in texts), "any": sum(e["tie"] for e in self.different)},
            "largest_gap": f"{max((float(e['gap']) for e in self.different), default=0.0):.1e}",
            "different_texts": texts,
            "no_tie": [each for each in self.different if not each["tie"]],
        }


def compare(translator: Translator, encodings: Sequence[Encoding], options: argparse.Namespace) -> dict[str, Any]:
    """For each kind of mix what `Comparison` says."""
    alone = [decode(translator, [each])[0] for each in tracked(encodings, unit="sentence")]
    double, special = copy.deepcopy(translator.model).double(), translator.tokenizer.special
    exact = [
        score_in_double(double, encoding.ids, each.result.hypotheses[0], special, translator.decoding)
        for encoding, each in zip(encodings, alone, strict=True)
    ]
    answers = {}
    for kind, fits in (("as the app", same_bucket), ("any lengths", lambda first, other: True)):
        rng = random.Random(kind)
        order = rng.sample(range(len(encodings)), len(encodings))
        sizes = (rng.randint(1, options.batch) for _ in encodings)
        comparison = Comparison()
        for batch in tracked(batches_of([encodings[number] for number in order], sizes, fits), unit="batch"):
            numbers = [order[place] for place in batch]
            comparison.batches += 1
            for number, each in zip(numbers, decode(translator, [encodings[n] for n in numbers]), strict=True):
                comparison.add(number, alone[number], each, exact[number], translator.decoding)
        answers[kind] = comparison.answer()
    return answers


def peer_of(translator: Translator, threads: int) -> Any:
    """CTranslate2 with the same weights; None where it is not installed."""
    if importlib.util.find_spec("ctranslate2") is None:
        return None
    twin = marian(translator.config, attention="sdpa").eval()
    copy_weights(translator.model, twin, may_end=True)
    with tempfile.TemporaryDirectory() as folder:
        return ctranslate2_of(twin, Path(folder), threads=threads)


def by_peer(peer: Any, sources: Sequence[Sequence[int]], decoding: DecodingConfig, most: int) -> list[list[int]]:
    """Return the ids of CTranslate2's translations, in batches of at most `most` that it makes itself; 0 for one."""
    results = peer.translate_batch(
        [tokens_of([*ids, SPECIAL.eos]) for ids in sources],
        max_batch_size=most,
        beam_size=decoding.beam,
        length_penalty=decoding.alpha,
        max_decoding_length=max(map(len, sources)) + decoding.extra_length,
        min_decoding_length=decoding.min_length,
    )
    return [[int(token[1:]) for token in result.hypotheses[0]] for result in results]


def measure(translator: Translator, encodings: Sequence[Encoding], options: argparse.Namespace) -> list[dict[str, Any]]:
    """One entry for each size of batch."""
    peer = peer_of(translator, options.threads) if options.device == "cpu" else None
    return [
        _entry(translator, encodings, size, peer, options) for size in sorted({1, min(8, options.batch), options.batch})
    ]


def _entry(
    translator: Translator, encodings: Sequence[Encoding], size: int, peer: Any, options: argparse.Namespace
) -> dict[str, Any]:
    ids, decoding = [each.ids for each in encodings], translator.decoding
    batches = batches_of(encodings, repeat(size), same_bucket)
    runs: dict[str, Callable[[], object]] = {
        "search_and_maps": lambda: [decode(translator, [encodings[n] for n in batch]) for batch in batches],
        "search": lambda: searched(translator, ids, batches),
    }
    if peer is not None:
        runs["ctranslate2"] = lambda: [by_peer(peer, [ids[n] for n in batch], decoding, 0) for batch in batches]
        runs["ctranslate2_own_batches"] = lambda: by_peer(peer, ids, decoding, size)
    seconds = interleaved(runs, rounds=options.rounds or (1 if options.quick else 3), options=options)
    cores = options.threads if options.clock == "wall" else 1  # the other clock counts the seconds of all
    entry: dict[str, Any] = {
        "batch": size,
        "batches": len(batches),
        "sentences": len(encodings),
        "per_second_and_core": {name: len(encodings) / value / cores for name, value in seconds.items()},
        "ours_over": {name: seconds["search_and_maps"] / value for name, value in seconds.items()},
    }
    if peer is not None:
        theirs = by_peer(peer, ids, decoding, size)
        powered = Translator(translator.model, translator.tokenizer, decoding.replace(length_penalty="power"))
        entry["ctranslate2_equals"] = {
            name: sum(a == b for a, b in zip(searched(each, ids, batches), theirs, strict=True))
            for name, each in (("ours", translator), ("ours_power", powered))
        }
    return entry


def searched(translator: Translator, ids: Sequence[Sequence[int]], batches: Sequence[list[int]]) -> list[list[int]]:
    """The translation of each sentence."""
    outputs: dict[int, list[int]] = {}
    for batch in batches:
        results = translator.search([ids[number] for number in batch])
        outputs.update(zip(batch, (list(result.hypotheses[0].ids) for result in results), strict=True))
    return [outputs[number] for number in range(len(ids))]


def main() -> None:
    """Print two tables, then one line of JSON."""
    number = {"type": int, "metavar": "N"}
    options = read_options(
        __doc__,
        ("--sentences", {"required": True, "nargs": "+", "metavar": "FILE", "help": "Their first column is read."}),
        ("--checkpoint", {"default": "checkpoints/en-de", "metavar": "DIR", "help": "(default: checkpoints/en-de)"}),
        ("--count", {**number, "default": 1_000, "help": "Sentences that are compared. (default: 1000)"}),
        ("--timed", {**number, "default": 96, "help": "Sentences that are timed. (default: 96)"}),
        ("--batch", {**number, "default": MAX_BATCH_SIZE, "help": "Sentences at a time. (default: %(default)s)"}),
    )
    if options.quick:
        options.count, options.timed, options.batch = (
            min(options.count, 12),
            min(options.timed, 4),
            min(options.batch, 4),
        )
    translator = Translator.load(find_checkpoint(options.checkpoint), options.device)
    sentences = read_sentences(options.sentences, options.count, random.Random(1))
    encodings = [translator.encode(sentence) for sentence in sentences]
    lengths = [len(each) for each in encodings]
    equality = compare(translator, encodings, options)
    speed = measure(translator, encodings[: options.timed], options)
    header = ["mix", *COUNTS, *KINDS, "ties of text", "any", "largest gap"]
    rows = [
        [mix, *(e[c] for c in COUNTS), *e["largest"].values(), *e["ties"].values(), e["largest_gap"]]
        for mix, e in equality.items()
    ]
    sys.stdout.write("Together against alone\n" + table(header, rows))
    header = ["batch", "peer", "sentences / s / core", "ours / peer"]
    rows = [[e["batch"], n, value, e["ours_over"][n]] for e in speed for n, value in e["per_second_and_core"].items()]
    answer = {
        "batching": {"equality": equality, "throughput": speed},
        "checkpoint": options.checkpoint,
        "text": [Path(file).name for file in options.sentences],
        "tokens": {
            "median": float(np.median(lengths)),
            "longest": max(lengths),
            "timed": sum(lengths[: options.timed]),
        },
        "beam": translator.decoding.beam,
    }
    report("Throughput", header, rows, answer, options)


if __name__ == "__main__":
    main()
