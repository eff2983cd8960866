"""The live run: one for everybody, as long as somebody watches; and the recorded one, made by the same code."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.lessons.jobs.finished import SECONDS, finished
from transformer_core.model.transformer import Transformer
from viz_app.lessons.jobs import live_training as module
from viz_app.lessons.jobs.live_training import LiveTraining
from viz_app.lessons.jobs.recorded_training import WORD, load_recorded_training, record_training
from viz_app.lessons.jobs.reversal_task import LONGEST, AttentionProbe, ReversalTrainer, word_from_text


def test_there_is_one_run_for_all_and_it_leaves_nothing_behind() -> None:
    threads = threading.active_count()
    go_on = threading.Event()

    def pause(seconds: float) -> None:
        go_on.wait(SECONDS)

    run = LiveTraining(steps=11, pause=pause)
    assert run.state == "idle" and run.watch("word").number == 0
    assert run.start()
    assert not run.start(), "a second visitor joins the run that goes on"
    assert run.watch("word").number == run.watch("other").number == 1
    assert threading.active_count() == threads + 1
    go_on.set()
    views = [finished(run).watch(word) for word in ("word", "other")]
    assert threading.active_count() == threads
    assert views[0].state == "done" and len(views[0].loss) == 11 and views[0].loss == views[1].loss
    assert views[0].moments == (0, 10) and len(views[0].looks) == 2
    for view, word in zip(views, ("word", "other"), strict=True):
        attention = view.looks[-1].attention
        assert attention.shape == (2, len(word) + 1, len(word) + 1) and len(view.looks[-1].guess) == len(word) + 1
        np.testing.assert_allclose(attention.sum(axis=-1), 255, atol=len(word))
    assert run.start() and finished(run).watch("word").number == 2, "what was recorded gives way to the next run"


def test_looks_at_few_words_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_WORDS", 2)
    run = LiveTraining(steps=1, pace=0.0, pause=lambda seconds: None)
    run.start()
    finished(run)
    guesses = [run.watch(word).looks[0].guess for word in ("one", "two", "six", "one")]
    assert run._record is not None and list(run._record.looks) == ["six", "one"]
    assert guesses[0] == guesses[3]


def test_looks_at_two_runs_at_once_are_each_of_their_own_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """A visitor may still look at the last run while the next one has begun."""
    run = LiveTraining(steps=1, pace=0.0, pause=lambda seconds: None)
    records = []
    for _ in range(2):
        run.start()
        finished(run)
        assert run._record is not None
        records.append(run._record)
    alone = [AttentionProbe().probe("word", record.weights[:1])[0].attention for record in records]
    assert not np.array_equal(alone[0], alone[1]), "the two runs start with other weights"
    run.watch("headlight")  # the looker is there before the two need it

    load, both = Transformer.load_state_dict, threading.Barrier(2)

    def load_and_wait(self: Transformer, *arguments: Any, **options: Any) -> Any:
        loaded = load(self, *arguments, **options)
        with contextlib.suppress(threading.BrokenBarrierError):  # only if both are let in does it open
            both.wait(1.0)
        return loaded

    monkeypatch.setattr(Transformer, "load_state_dict", load_and_wait)
    found: dict[int, Any] = {}

    def look(number: int) -> None:
        found[number] = run._probe(records[number], "word", 1)[0].attention

    threads = [threading.Thread(target=look, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    for number in range(2):
        np.testing.assert_array_equal(found[number], alone[number])


@pytest.mark.parametrize(
    ("text", "word"),
    [("A man rides a bicycle.", "amanrides"), ("Go!", "headlight"), ("<b>Ünï", "headlight"), ("ABC", "abc")],
)
def test_a_word_is_made_of_the_first_letters(text: str, word: str) -> None:
    assert word_from_text(text) == word and len(word) <= LONGEST


def test_the_recorded_run_is_one_of_this_code_and_has_learnt() -> None:
    run = load_recorded_training()
    learner = ReversalTrainer()
    first, *later = [learner.step() for _ in range(3)]
    assert first == pytest.approx(run.loss[0], rel=1e-4)
    # Another machine rounds otherwise, and Adam makes more of it.
    np.testing.assert_allclose(later, run.loss[1:3], rtol=2e-2)
    assert run.options["training"]["steps"] == len(run.loss) == run.moments[-1]
    assert run.word == WORD and run.guesses[-1].startswith(WORD[::-1])
    assert run.guesses[0] != run.guesses[-1]
    assert run.attention.shape == (len(run.moments), 2, len(WORD) + 1, len(WORD) + 1)
    # At its end it looks where the letter stands that it has to write.
    mirrored = run.attention[-1].mean(axis=0)[:-1, :-1][:, ::-1].diagonal()
    assert mirrored.mean() > 0.5 * 255


def test_recording_writes_what_reading_reads(tmp_path: Path) -> None:
    record_training(tmp_path, steps=2)
    run = load_recorded_training(tmp_path)
    assert len(run.loss) == 2 and run.moments == (0,) and len(run.guesses) == len(run.attention) == 1
