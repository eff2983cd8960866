"""Two users of one model, in threads or tasks, never see each other's captures or edits."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from tests.core.tiny import nobody_listens, run, sentence_pairs
from transformer_core import Transformer, Translation, Translator, capture, edit, hook_points, zero
from transformer_core.attention_maps import KINDS, AttentionMaps

ROUNDS = 20
LAYERS = ("encoder.1", "cross.2")


def together(*jobs: Callable[[], None]) -> None:
    """Run the jobs at the same time, and let the first error through."""
    start = threading.Barrier(len(jobs))

    def start_with_the_others(job: Callable[[], None]) -> None:
        start.wait(timeout=30)
        job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        for done in [pool.submit(start_with_the_others, job) for job in jobs]:
            done.result(timeout=60)


def test_captures_and_edits_in_threads_stay_apart(model: Transformer) -> None:
    plain = run(model, [5, 3])
    expected = []
    for head in range(4):
        with edit(model, [f"{layer}.{head + 1}" for layer in LAYERS], zero):
            expected.append(run(model, [5, 3]))
    assert not any(torch.allclose(plain, other) for other in expected)

    def ablating(head: int) -> Callable[[], None]:
        def job() -> None:
            for _ in range(ROUNDS):
                with edit(model, [f"{layer}.{head + 1}" for layer in LAYERS], zero):
                    torch.testing.assert_close(run(model, [5, 3]), expected[head], atol=1e-5, rtol=1e-5)
                torch.testing.assert_close(run(model, [5, 3]), plain, atol=1e-5, rtol=1e-5)

        return job

    def capturing(lengths: list[int], layer: int) -> Callable[[], None]:
        with capture(model, [f"{kind}.{layer}" for kind in KINDS]) as wanted:
            run(model, lengths)

        def job() -> None:
            for _ in range(ROUNDS):
                with capture(model, [f"{kind}.{layer}" for kind in KINDS]) as seen:
                    run(model, lengths)
                assert set(seen) == set(wanted)
                for address, weights in seen.items():
                    assert len(seen.calls[address]) == 1
                    torch.testing.assert_close(weights, wanted[address], atol=1e-5, rtol=1e-5)

        return job

    def bystander() -> None:
        for _ in range(2 * ROUNDS):
            torch.testing.assert_close(run(model, [5, 3]), plain, atol=1e-5, rtol=1e-5)

    together(ablating(0), ablating(3), capturing([7, 2], 1), capturing([4], 2), bystander)
    assert nobody_listens(model)


@pytest.mark.parametrize("beam", [1, 3])
def test_a_translation_beside_open_hooks_has_the_same_bits(beam: int, learned: Translator) -> None:
    text, target = sentence_pairs()[7]

    def translate() -> tuple[Translation, AttentionMaps, tuple[float, ...]]:
        translation = learned.translate(text, beam=beam)
        return translation, translation.attention, learned.teacher_force(text, target).scores

    with ThreadPoolExecutor(1) as pool:
        expected = pool.submit(translate).result(timeout=60)
        with capture(learned, "all") as captured, edit(learned, list(hook_points(learned)), lambda value, _: 2 * value):
            result = pool.submit(translate).result(timeout=60)
            own = learned.translate(text, beam=beam)
    assert result[0].hypotheses == expected[0].hypotheses and result[2] == expected[2]
    for kind in KINDS:
        assert np.array_equal(result[1].weights(kind), expected[1].weights(kind))
    assert captured and own.scores != expected[0].scores  # the hooks do act


def test_a_copied_context_carries_its_edits_along(model: Transformer) -> None:
    """Work handed to another thread in a copy of the context, as asyncio.to_thread does, still belongs to its user."""
    with capture(model, "cross") as seen, ThreadPoolExecutor(1) as pool:
        pool.submit(contextvars.copy_context().run, run, model, [5]).result(timeout=30)
    assert len(seen) == 2
