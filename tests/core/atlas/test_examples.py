"""Probe sentences; the clearest places of heads against a search; distances of heads against scipy's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import scipy

from tests.core.tiny import sentence_pairs
from transformer_core.analysis.ablation import all_heads
from transformer_core.atlas.examples import measure_examples, probe_sentences
from transformer_core.atlas.naming import Role
from transformer_core.atlas.patterns import pattern_keys
from transformer_core.atlas.record import OtherModel
from transformer_core.atlas.resumable_map import ResumableMap
from transformer_core.atlas.similarity import measure_similarity, row_distances
from transformer_core.attention_maps import KINDS
from transformer_core.translator import Translator


def test_there_are_300_different_probe_sentences() -> None:
    sentences = probe_sentences()
    assert len(sentences) == 300 == len({re.sub(r"\W+", " ", each.lower()).strip() for each in sentences})
    assert all(each == each.strip() and each[-1] in '.?!"' for each in sentences)
    lengths = [len(each.split()) for each in sentences]
    assert min(lengths) <= 2 and max(lengths) >= 11


def test_examples_are_the_largest_weights_that_fit(random_checkpoint: Path, tmp_path: Path) -> None:
    translator = Translator.load(random_checkpoint)
    runner = ResumableMap(checkpoint=random_checkpoint, weights_hash=translator.checkpoint_hash, folder=tmp_path)
    role = Role(name="offset-1", value=1, low=1, high=1, baseline=0, places=1, q=0)
    roles = {head: (role,) if head == ("encoder", 1, 2) else () for head in all_heads(translator)}
    sentences = [*probe_sentences()[::25], "", "long " * 3_000]
    result = measure_examples(runner, translator, roles, sentences)
    expected = []
    for number, sentence in enumerate(sentences[:-2]):
        maps = translator.translate(sentence).attention
        weights, wanted = maps.encoder[1, 2], pattern_keys(maps, "encoder", ())["offset-1"]
        fitting = [
            (float(weights[q].max()), -number, q)
            for q in range(len(weights))
            if wanted[q].any() and weights[q].argmax() == q - 1
        ]
        expected += [max(fitting)] if fitting else []
    clearest = [each for each in result.kinds["encoder"][1][2] if each.fits]
    assert len(clearest) == min(10, len(expected)) > 0
    assert [each.sentence for each in clearest] == [-number for _, number, _ in sorted(expected, reverse=True)[:10]]
    assert all(each.key == each.query - 1 for each in clearest)
    assert set(result.sentences) == set(result.targets) and not any(each.fits for each in result.kinds["cross"][0][0])


def test_distances_are_scipys() -> None:
    rng = np.random.default_rng(0)
    ours, theirs = (rng.dirichlet(np.full(6, 0.4), size=(count, 5)) for count in (3, 4))
    result = row_distances(ours, theirs)
    for a in range(3):
        for b in range(4):
            expected = sum(
                scipy.spatial.distance.jensenshannon(x, y, base=2) for x, y in zip(ours[a], theirs[b], strict=True)
            )
            assert result[a, b] == pytest.approx(expected)
    assert row_distances(np.eye(3)[:, None], np.eye(3)[:, None]) == pytest.approx(1 - np.eye(3))


def test_a_model_beside_itself_has_every_head_as_its_own_nearest(random_checkpoint: Path, tmp_path: Path) -> None:
    translator = Translator.load(random_checkpoint)
    runner = ResumableMap(checkpoint=random_checkpoint, weights_hash=translator.checkpoint_hash, folder=tmp_path)
    pairs = [list(pair) for pair in sentence_pairs()[:360:60]]
    twin = "f" * 64
    result = measure_similarity(runner, [*pairs, ["", ""]], {twin: ("twin", random_checkpoint)}, {"draws": 100})
    assert result.models == {twin: OtherModel(name="twin", layers=2, heads=4)}
    for kind in KINDS:
        family = result.kinds[kind]
        assert family.sentences == len(pairs)
        np.testing.assert_allclose(family.distances, family.distances.T, atol=1e-12)
        for number, siblings in enumerate(head for layer in family.nearest for head in layer):
            own = [each for each in siblings if not each.model]
            order = [n for n in np.argsort(family.distances[number], kind="stable").tolist() if n != number][:3]
            assert [each.number for each in own] == order
            if kind == "encoder":
                first = next(each for each in siblings if each.model == twin)
                assert first.number == number and first.distance == pytest.approx(0.0, abs=1e-3)
    words = sum(len(source.split()) for source, _ in pairs)
    assert result.kinds["encoder"].rows == words
