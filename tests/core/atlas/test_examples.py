"""Probe sentences, and the clearest places of heads against a literal search."""

from __future__ import annotations

import re
from pathlib import Path

from transformer_core.analysis.ablation import all_heads
from transformer_core.atlas.examples import measure_examples, probe_sentences
from transformer_core.atlas.naming import Role
from transformer_core.atlas.patterns import pattern_keys
from transformer_core.atlas.resumable_map import ResumableMap
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
