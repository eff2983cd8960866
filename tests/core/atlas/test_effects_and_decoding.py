"""Effects of the atlas equal effects of single edits; translations without heads are the translator's."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import scipy

from tests.core.tiny import sentence_pairs
from transformer_core import Translator
from transformer_core.analysis.ablation import Head, ablated, all_heads
from transformer_core.analysis.alignment import alignment_error_rate, head_alignment_errors, read_gold
from transformer_core.analysis.effects.head_effects import Change, head_effects, mean_outputs
from transformer_core.atlas import decoding
from transformer_core.atlas.alignment import measure_alignment
from transformer_core.atlas.controls import CONTROL_DRAWS, CONTROLS
from transformer_core.atlas.cumulative_ablation import greedy_order, kept_counts, measure_cumulative_ablation
from transformer_core.atlas.decoding import measure_decoding
from transformer_core.atlas.effects import CLASSES, measure_effects, token_class
from transformer_core.atlas.resumable_map import ResumableMap
from transformer_core.attention_maps import KINDS
from transformer_core.evaluation.metrics import bleu, chrf, paired_bootstrap

PAIRS = [list(pair) for pair in sentence_pairs()[:360:60]]
BOOTSTRAP = {"draws": 100, "seed": 0}


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bootstrap of few draws; test_metrics.py holds it against sacreBLEU's."""
    monkeypatch.setattr(decoding, "paired_bootstrap", partial(paired_bootstrap, samples=20))


def test_effects_are_the_means_over_sentences(runner: ResumableMap, translator: Translator) -> None:
    too_long = ["a " * 500, "a"]
    result = measure_effects(runner, [*PAIRS, too_long, ["", "nothing"]], BOOTSTRAP)
    assert (result.sentences, result.skipped) == (len(PAIRS), 2)
    assert result.tokens == sum(len(translator.encode_target(target)) + 1 for _, target in PAIRS)
    means = mean_outputs(translator, [(source, target) for source, target in PAIRS])
    changes: tuple[Change, ...] = ("zero", "mean")
    for change in changes:
        alone = [head_effects(translator, *pair, change=change, means=means).effects for pair in PAIRS]
        for kind in KINDS:
            effect = sum(each[kind].sum(dim=2) for each in alone) / result.tokens
            np.testing.assert_allclose(result.changes[change][kind].value, effect, atol=1e-5)
    tokens = np.array([result.class_tokens[name] for name in CLASSES])
    assert tokens.sum() == result.tokens and result.class_tokens["end"] == len(PAIRS)
    for kind in KINDS:
        by_class = np.stack([result.classes[name][kind].value for name in CLASSES])
        weighed = np.nansum(by_class * tokens[:, None, None], axis=0) / result.tokens
        np.testing.assert_allclose(weighed, result.changes["mean"][kind].value, atol=1e-6)
    assert set(result.agreement["zero"]) == {"all", *KINDS}
    assert all(each.low <= each.value <= each.high for by in result.agreement.values() for each in by.values())


def test_controls_are_paired_and_drawn_for_each_sentence(runner: ResumableMap, translator: Translator) -> None:
    """Effects of sentences one by one, with the seeds that measure_effects gives them."""
    result = measure_effects(runner, PAIRS, BOOTSTRAP)
    assert set(result.differences) == {f"{change}/{name}" for change, names in CONTROLS.items() for name in names}
    means = mean_outputs(translator, [(source, target) for source, target in PAIRS])
    drawn_others = np.random.default_rng(0).integers(len(PAIRS), size=(len(PAIRS), CONTROL_DRAWS))
    for change, control in (("zero", "random"), ("mean", "random-mean"), ("mean", "resample")):
        rows = []
        for number, (source, target) in enumerate(PAIRS):
            others = [(PAIRS[n][0], PAIRS[n][1]) for n in drawn_others[number] if PAIRS[n] != [source, target]]
            given: dict[str, Any] = {"draws": CONTROL_DRAWS, "seed": number, "others": others}
            effect, drawn = (
                head_effects(translator, source, target, change=cast(Change, each),
                             means=means if "mean" in name else None, **given).effects["cross"].sum(dim=2).double()
                for each, name in ((change, change), (control.removesuffix("-mean"), control))
            )  # fmt: skip
            rows.append((effect - drawn).numpy())
        name, nats = f"{change}/{control}", np.sum(rows, axis=0) / result.tokens
        np.testing.assert_allclose(result.differences[name]["cross"].value, nats, atol=1e-6)
        p = scipy.stats.ttest_1samp(np.stack(rows), 0.0, axis=0).pvalue
        assert (result.q[name]["cross"] >= p - 1e-6).all()


def test_classes_of_tokens() -> None:
    given = {"▁Haus": "word", "es": "inside", "▁12": "number", "▁": "word", ".": "punctuation", "</s>": "end"}
    assert {token: token_class(token) for token in given} == given


def test_translations_without_heads_are_those_of_the_translator(runner: ResumableMap, translator: Translator) -> None:
    result = measure_decoding(runner, translator, PAIRS)
    references = [[target for _, target in PAIRS]]
    own = [each.text for each in translator.translate_batch([source for source, _ in PAIRS], beam=1)]
    assert result.whole.bleu == pytest.approx(bleu(own, references).value)
    for kind, layer, head in all_heads(translator)[::5]:
        with ablated(translator, [Head(kind, layer, head)]):
            texts = [each.text for each in translator.translate_batch([source for source, _ in PAIRS], beam=1)]
        score = result.heads[kind][layer][head]
        assert score.bleu == pytest.approx(bleu(texts, references).value)
        assert score.chrf == pytest.approx(chrf(texts, references).value)
        assert 0 <= score.bleu_p <= result.q[kind][layer, head] + 1e-9 <= 1 + 1e-9
        assert score.bleu_change is not None
        low, high = score.bleu_change
        assert low <= score.bleu - result.whole.bleu <= high


def test_the_greedy_order_is_that_of_recomputing_everything(runner: ResumableMap, translator: Translator) -> None:
    heads = [head for head in all_heads(translator) if head[0] == "cross"][:4]
    pairs = [(source, target) for source, target in PAIRS[:2]]
    result = greedy_order(translator, [[list(head) for head in heads], [list(pair) for pair in pairs]])
    off: list[Head] = []
    left = list(heads)
    while left:
        totals = []
        for head in left:
            with ablated(translator, [*off, head]):
                totals.append(sum(translator.score(pairs)))
        off.append(left.pop(int(np.argmax(totals))))
    assert [heads[number] for number in result["order"].tolist()] == off


def test_curves_begin_with_the_whole_model_and_end_without_heads(runner: ResumableMap, translator: Translator) -> None:
    effects = measure_effects(runner, PAIRS, BOOTSTRAP)
    result = measure_cumulative_ablation(runner, translator, PAIRS[:3], effects=effects, greedy=0, seed=4)
    whole = measure_decoding(runner, translator, PAIRS[:3]).whole
    assert {(curve.heads, curve.order, curve.seed) for curve in result.curves} == {
        (heads, order, seed)
        for heads in ("all", *KINDS)
        for order, seed in [("effect", None), ("reverse", None), ("gradient", None)]
        + [("random", s) for s in (4, 5, 6)]
    }
    for curve in result.curves:
        count = 24 if curve.heads == "all" else 8
        assert len(set(curve.removed)) == count and curve.kept == kept_counts(count)
        assert curve.scores[0].bleu == whole.bleu and curve.kept[-1] == 0
        values = [effects.changes["mean"][kind].value[layer, head] for kind, layer, head in curve.removed]
        if curve.order in ("effect", "reverse"):
            assert values == sorted(values, reverse=curve.order == "reverse")
    ends = {curve.scores[-1].bleu for curve in result.curves if curve.heads == "all"}
    assert len(ends) == 1


def test_half_of_the_heads_and_all_but_ten_are_among_the_counts() -> None:
    assert kept_counts(144) == (144, 134, 130, 115, 101, 86, 72, 58, 43, 29, 14, 0)
    assert kept_counts(4) == (4, 3, 2, 1, 0)


def test_alignment_errors_are_those_of_align(runner: ResumableMap, translator: Translator, tmp_path: Path) -> None:
    file = tmp_path / "gold.tsv"
    lines = [f"{source[:-1]} .\t{target[:-1]} .\t0-0 1-1 2?2 3-2\n" for source, target in PAIRS]
    file.write_text("".join(lines), encoding="utf-8")
    gold = list(read_gold(file))
    result = measure_alignment(runner, gold, BOOTSTRAP)
    for name, table in head_alignment_errors(translator, gold).items():
        np.testing.assert_allclose(result.rows[name].error.value, table, atol=1e-9)
        offsets = []
        for offset in range(-5, 6):
            links = [
                (
                    frozenset((j + offset, j) for j in range(len(each.target)) if 0 <= j + offset < len(each.source)),
                    each,
                )
                for each in gold
            ]
            offsets.append(alignment_error_rate(links))
        assert result.rows[name].fixed == pytest.approx(min(offsets))
        np.testing.assert_allclose(result.rows[name].gain.value, min(offsets) - table, atol=1e-9)
