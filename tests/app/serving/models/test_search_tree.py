"""Branches of a search: their numbers, their text, and that a forced pass over one sees what the search saw."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from transformer_core.decoding.beam import length_penalty
from transformer_core.translator import Translation, Translator
from viz_app.serving.models.search_tree import branch_ends, branch_translation, path_to, search_tree

TEXT = "The dog."
BEAM = 3


@pytest.fixture(scope="module")
def translation(translator: Translator) -> Translation:
    return translator.translate(TEXT, beam=BEAM)


def test_every_end_is_one_branch_the_hypotheses_first(translation: Translation, translator: Translator) -> None:
    ends = branch_ends(translation)
    childless = [i for i in range(len(translation.history)) if all(node.parent != i for node in translation.history)]
    assert sorted(ends) == childless
    assert list(ends[:BEAM]) == [hypothesis.node for hypothesis in translation.hypotheses]
    rest = [(translation.history[end].step, end) for end in ends[BEAM:]]
    assert rest and rest == sorted(rest)
    assert branch_ends(translator.translate(TEXT, beam=BEAM)) == ends, "the same at every visit"


def test_a_branch_reads_as_its_path(translation: Translation, translator: Translator) -> None:
    eos = translator.tokenizer.special.eos
    for number, end in enumerate(branch_ends(translation)):
        path = path_to(translation.history, end)
        branch = branch_translation(translation, number, translator)
        ids = [node.token for node in path if node.token != eos]
        assert branch.tokens == translator.tokenizer.tokens(ids)
        assert branch.finished == (path[-1].token == eos)
        assert sum(branch.scores) == pytest.approx(path[-1].log_probability, abs=1e-3)
        alpha, kind = translator.decoding.alpha, translator.decoding.length_penalty
        expected = path[-1].log_probability / length_penalty(len(path), alpha, kind)
        assert branch.hypotheses[0].score == pytest.approx(expected)
        assert len(branch.alternatives) == len(branch.scores) == len(branch.attention.outputs)
    for number in (-1, len(branch_ends(translation)), 10_000):
        assert branch_translation(translation, number, translator) is translation


def test_they_equal_those_of_force(
    translation: Translation, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`force` also writes `</s>`; an unfinished branch has the rows before, which cannot see it."""
    for number in range(1, 2 * BEAM):
        branch = branch_translation(translation, number, translator)
        ids = SimpleNamespace(ids=branch.hypotheses[0].ids, spans=())  # the text alone might be cut into other tokens
        monkeypatch.setattr(translator, "encode_target", lambda text, ids=ids: ids)
        expected = translator.teacher_force(TEXT, branch.text)
        rows = len(branch.attention.outputs)
        np.testing.assert_allclose(branch.attention.encoder, expected.attention.encoder, atol=1e-6)
        np.testing.assert_allclose(branch.attention.cross, expected.attention.cross[:, :, :rows], atol=1e-6)
        np.testing.assert_allclose(branch.attention.decoder, expected.attention.decoder[:, :, :rows, :rows], atol=1e-6)
        np.testing.assert_allclose(branch.scores, expected.scores[:rows], atol=1e-4)


def test_the_tree_says_everything_about_the_search(translation: Translation, translator: Translator) -> None:
    config = translator.decoding.replace(beam=BEAM)
    tree = search_tree(translation, translator.tokenizer, config, 4)
    history = translation.history
    assert tree["parent"] == [node.parent for node in history]
    assert [tree["tokens"][token] for token in tree["token"]] == [
        translator.tokenizer.token(node.token) for node in history
    ]
    np.testing.assert_allclose(tree["total"], [node.log_probability for node in history], atol=1e-6)
    np.testing.assert_allclose(tree["own"], [node.token_log_probability for node in history], atol=1e-6)
    words = {"k": "kept", "f": "finished", "p": "pruned"}
    assert [words[letter] for letter in tree["status"]] == [node.status for node in history]
    assert (tree["size"], tree["alpha"], tree["penalty"], tree["shown"]) == (BEAM, 0.6, "gnmt", 4)
    other = search_tree(translation, translator.tokenizer, config, 10_000)
    assert (other["id"], other["shown"]) == (tree["id"], 0)
    assert search_tree(translator.translate("A train.", beam=BEAM), translator.tokenizer, config, 0)["id"] != tree["id"]
    assert search_tree(translator.translate(""), translator.tokenizer, config, 0) == {}
