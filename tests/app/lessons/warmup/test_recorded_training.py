"""The recorded training: made by this code, and it has learnt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from transformer_core.decoding.greedy import greedy_search
from viz_app.lessons.warmup.recorded_training import WORD, load_recorded_training, record_training
from viz_app.lessons.warmup.reversal_task import LETTERS, SPECIAL, AttentionProbe, ReversalTrainer


def test_the_recorded_run_is_one_of_this_code_and_has_learnt() -> None:
    run = load_recorded_training()
    learner = ReversalTrainer()
    first, *later = [learner.step() for _ in range(3)]
    assert first == pytest.approx(run.loss[0], rel=1e-4)
    # Another machine rounds otherwise, and Adam makes more of it.
    np.testing.assert_allclose(later, run.loss[1:3], rtol=2e-2)
    assert run.options["training"]["steps"] == len(run.loss) == run.moments[-1]
    assert run.word == WORD and run.guesses[-1].startswith(WORD[::-1])
    assert not set(run.guesses[0]) & set(WORD)  # no copy of the word
    assert run.attention.shape == (len(run.moments), 2, len(WORD) + 1, len(WORD) + 1)
    # At its end it looks where the letter stands that it has to write.
    mirrored = run.attention[-1].mean(axis=0)[:-1, :-1][:, ::-1].diagonal()
    assert mirrored.mean() > 0.5 * 255


def test_a_guess_is_what_greedy_search_generates() -> None:
    learner = ReversalTrainer()
    moments = [learner.weights()]
    for _ in range(110):  # until its output has an end
        learner.step()
    moments.append(learner.weights())
    source = torch.tensor([[4 + LETTERS.index(letter) for letter in WORD] + [SPECIAL.eos]])
    for look, weights in zip(AttentionProbe().probe(WORD, moments), moments, strict=True):
        learner.model.load_state_dict(weights)
        ids = greedy_search(learner.model.eval(), source, SPECIAL, extra_length=5)[0]
        assert look.guess == f"{''.join(LETTERS[each - 4] for each in ids)}."[: len(WORD) + 1]


def test_recording_writes_what_reading_reads(tmp_path: Path) -> None:
    record_training(tmp_path, steps=2)
    run = load_recorded_training(tmp_path)
    assert len(run.loss) == 2 and run.moments == (0,) and len(run.guesses) == len(run.attention) == 1
