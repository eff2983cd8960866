"""Effects of heads: the log-probability that a token of the reference loses when the head is changed.

The output of a head becomes zero (`zero`) or its mean over the same sentences (`mean`). The LayerNorm after it uses the
new standard deviation, or that of the unchanged run (`-frozen`). Controls, see `controls.py`, are its output plus a
random vector as long as what `zero` (`random`) or `mean` (`random-mean`) takes away, and its output on other sentences
(`resample`).

Shape legend: N sentences, C changes, K kinds of attention, L layers, H heads, T target tokens, d_v width of a head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from transformer_core.analysis.effects.head_effects import Change, MeanOutputs, by_kind, head_effects, output_sums
from transformer_core.analysis.effects.head_gradients import gradient_importance
from transformer_core.analysis.teacher_forced_run import fits, teacher_forced_run
from transformer_core.atlas.controls import CONTROL_DRAWS, CONTROLS
from transformer_core.atlas.record import Effects, Estimate, FloatArray
from transformer_core.atlas.resumable_map import Results, ResumableMap, cut, joined
from transformer_core.atlas.statistics import Bootstrap, corrected, paired_test, sign_test
from transformer_core.attention_maps import KINDS, WORD_BOUNDARY, Kind
from transformer_core.data import DataError
from transformer_core.extras import extra
from transformer_core.translator import Translator

CHUNK = 5  # sentences of an item
CHANGES: dict[str, tuple[Change, bool, bool]] = {  # change, whether the norm is frozen, whether it needs the means
    "zero": ("zero", False, False),
    "mean": ("mean", False, True),
    "zero-frozen": ("zero", True, False),
    "mean-frozen": ("mean", True, True),
    "random": ("random", False, False),
    "random-mean": ("random", False, True),
    "resample": ("resample", False, False),
}
CLASSES = ("word", "inside", "number", "punctuation", "end")  # first token of a word, its other tokens, ...
LENGTHS = ("short", "middle", "long")


def measure_effects(runner: ResumableMap, pairs: Sequence[Sequence[str]], bootstrap: Mapping[str, int]) -> Effects:
    """Measure the effects of all heads on given translations, and their gradient importance.

    Args:
        runner: Runs the stages.
        pairs: Sentences and translations.
        bootstrap: `draws` and `seed`.

    Raises:
        DataError: No sentence can be read.
    """
    means = mean_outputs_of(runner, pairs)
    seed = bootstrap.get("seed", 0)
    drawn = np.random.default_rng(seed).integers(len(pairs), size=(len(pairs), CONTROL_DRAWS))
    others = [[list(pairs[number]) for number in row] for row in drawn.tolist()]  # for `resample`
    groups = zip(cut(pairs, CHUNK), cut(others, CHUNK), strict=True)
    items = [[*group, means, seed + CHUNK * number] for number, group in enumerate(groups)]
    results = runner.run(chunk_effects, items, "sentences x 5")
    effects = joined(results, "effects")  # (N, C, K, L, H)
    tokens = joined(results, "tokens").astype(np.float64)
    drawing = Bootstrap(len(tokens), **bootstrap)
    by_class, class_tokens = joined(results, "classes"), joined(results, "class_tokens")
    gradient = joined(results, "gradient")
    names = tuple(CHANGES)
    mean = effects[:, names.index("mean")]
    differences = {
        f"{change}/{control}": effects[:, names.index(change)] - effects[:, names.index(control)]
        for change, controls in CONTROLS.items()
        for control in controls
    }
    thirds, bounds = _thirds(joined(results, "source_tokens"))
    return Effects(
        sentences=len(tokens),
        skipped=len(pairs) - len(tokens),
        tokens=int(tokens.sum()),
        changes={name: _by_kind(drawing.ratio(effects[:, each], tokens)) for each, name in enumerate(names)},
        differences={name: _by_kind(drawing.ratio(each, tokens)) for name, each in differences.items()},
        q={name: _corrected(sign_test(effects[:, n], two_sided=True)) for n, name in enumerate(names)}
        | {name: _corrected(paired_test(each)) for name, each in differences.items()},
        gradient=_by_kind(drawing.ratio(gradient, tokens)),
        agreement={name: _agreement(drawing, effects[:, n], gradient, tokens) for n, name in enumerate(names)},
        classes={
            name: _by_kind(drawing.ratio(by_class[:, number], class_tokens[:, number]))
            for number, name in enumerate(CLASSES)
        },
        class_tokens=dict(zip(CLASSES, class_tokens.sum(axis=0).tolist(), strict=True)),
        lengths={
            name: _by_kind(drawing.ratio(mean * (thirds == n)[:, None, None, None], tokens * (thirds == n)))
            for n, name in enumerate(bounds)
        },
        length_bounds=bounds,
    )


def _by_kind(estimate: Estimate) -> dict[Kind, Estimate]:
    return {
        kind: Estimate(value=estimate.value[number], low=estimate.low[number], high=estimate.high[number])
        for number, kind in enumerate(KINDS)
    }


def _corrected(p: FloatArray) -> dict[Kind, FloatArray]:
    return dict(zip(KINDS, corrected(p), strict=True))


def _thirds(lengths: FloatArray) -> tuple[npt.NDArray[np.intp], dict[str, tuple[int, int]]]:
    """Return the third of each sentence by length, and the bounds of non-empty thirds; equal lengths stay together."""
    edges = np.quantile(lengths, [1 / 3, 2 / 3])
    thirds = np.searchsorted(edges, lengths, side="left")
    bounds = {
        name: (int(lengths[thirds == number].min()), int(lengths[thirds == number].max()))
        for number, name in enumerate(LENGTHS)
        if (thirds == number).any()
    }
    places = [number for number in range(len(LENGTHS)) if (thirds == number).any()]
    return np.searchsorted(places, thirds), bounds


def _agreement(
    drawing: Bootstrap, effects: FloatArray, gradient: FloatArray, tokens: FloatArray
) -> dict[str, Estimate]:
    """Compute Spearman's rank correlation of effects and gradient importance, over all heads and within each kind."""
    ours, theirs = (drawing.ratios(each, tokens) for each in (effects, gradient))  # (draws, K, L, H)
    whole = [each.sum(axis=0) for each in (effects, gradient)]
    correlations = {}
    groups: dict[str, list[int]] = {"all": list(range(len(KINDS)))}
    groups |= {kind: [number] for number, kind in enumerate(KINDS)}
    for name, pick in groups.items():
        draws = [rank_correlation(a[pick].ravel(), b[pick].ravel()) for a, b in zip(ours, theirs, strict=True)]
        value = rank_correlation(whole[0][pick].ravel(), whole[1][pick].ravel())
        correlations[name] = drawing.correlation(np.array(draws), value)
    return correlations


def rank_correlation(first: FloatArray, second: FloatArray) -> float:
    """Compute Spearman's rank correlation; 0 if all values of a side are equal."""
    with extra("atlas"):
        from scipy.stats import rankdata

    one, other = (rankdata(each) - (len(each) + 1) / 2 for each in (first, second))
    below = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / below if below else 0.0


def mean_outputs_of(runner: ResumableMap, pairs: Sequence[Sequence[str]]) -> list[Any]:
    """Compute the mean output of every head over all positions of all sentences, (K, L, H, d_v) as lists.

    Raises:
        DataError: No sentence can be read.
    """
    results = runner.run(chunk_means, [list(group) for group in cut(pairs, 4 * CHUNK)], "sentences x 20")
    positions = np.stack([each["positions"] for each in results]).sum(axis=0)  # (K,)
    if not positions.all():
        raise DataError("no sentence can be read: all are empty or too long")
    sums = np.stack([each["sums"] for each in results]).sum(axis=0)
    means: list[Any] = (sums / positions[:, None, None, None]).tolist()
    return means


def chunk_means(translator: Translator, item: Any) -> Results:
    """Sum the outputs of all heads, (K, L, H, d_v), and count the positions, (K,)."""
    sums, positions = output_sums(translator, (pair for pair in item if _readable(translator, pair)))
    return {"sums": sums.numpy(), "positions": positions.numpy()}


def _readable(translator: Translator, pair: Sequence[str]) -> bool:
    return all(text.strip() for text in pair) and fits(translator, *pair)


def chunk_effects(translator: Translator, item: Any) -> Results:
    """Sum over the tokens of each readable sentence.

    effects (C, K, L, H), gradient (K, L, H), classes (classes, K, L, H) of `mean`, class_tokens, tokens, source_tokens.
    """
    pairs, others, mean_values, seed = item
    means = by_kind(translator, torch.tensor(mean_values))
    arrays: dict[str, list[Any]] = {
        name: [] for name in ("effects", "gradient", "classes", "class_tokens", "tokens", "source_tokens")
    }
    for number, ((source, target), drawn) in enumerate(zip(pairs, others, strict=True)):
        if not _readable(translator, (source, target)):
            continue
        run = teacher_forced_run(translator, source, target)
        usable = [pair for pair in drawn if pair != [source, target] and _readable(translator, pair)]
        measured = _effects(translator, source, target, usable or [(source, target)], means, seed + number)
        of_mean = measured[tuple(CHANGES).index("mean")]  # (K, L, H, T)
        classes = np.array([token_class(token) for token in run.tokens])
        arrays["effects"].append(np.stack([each.sum(axis=3) for each in measured]))
        importance = gradient_importance(translator, run).cpu().double() * len(run.outputs)
        arrays["gradient"].append(importance.numpy().reshape(of_mean.shape[:3]))
        arrays["classes"].append(np.stack([of_mean[..., classes == name].sum(axis=3) for name in CLASSES]))
        arrays["class_tokens"].append([int((classes == name).sum()) for name in CLASSES])
        arrays["tokens"].append(len(run.outputs))
        arrays["source_tokens"].append(len(run.source_tokens))
    config = translator.config
    heads = len(KINDS), config.num_layers, config.num_heads
    shapes: dict[str, tuple[int, ...]] = {
        "effects": (len(CHANGES), *heads), "gradient": heads, "classes": (len(CLASSES), *heads),
        "class_tokens": (len(CLASSES),), "tokens": (), "source_tokens": (),
    }  # fmt: skip
    types = {name: np.int64 if name.endswith("tokens") else np.float64 for name in arrays}
    return {name: np.array(arrays[name], types[name]).reshape(-1, *shape) for name, shape in shapes.items()}


def _effects(
    translator: Translator, source: str, target: str, others: Sequence[Any], means: MeanOutputs, seed: int
) -> list[FloatArray]:
    """Return (K, L, H, T) effects of each change in nats, means over draws."""
    by_kind = []
    for change, frozen, needs_means in CHANGES.values():
        options: dict[str, Any] = {"change": change, "frozen_norm": frozen, "draws": CONTROL_DRAWS, "seed": seed}
        needed_means = means if needs_means else None
        effects = head_effects(translator, source, target, others=others, means=needed_means, **options).effects
        by_kind.append(torch.stack([effects[kind] for kind in KINDS]).cpu().double().numpy())
    return by_kind


def token_class(token: str) -> str:
    """Return the class of a target token, one of `CLASSES`."""
    text = token.replace(WORD_BOUNDARY, "")
    if token == "</s>":
        return "end"
    if any(character.isdigit() for character in text):
        return "number"
    if text and not any(character.isalpha() for character in text):
        return "punctuation"
    return "word" if token.startswith(WORD_BOUNDARY) else "inside"
