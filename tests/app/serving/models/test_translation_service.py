"""Values that are computed once for many sessions: one computation, one order, one bound of memory."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from tests.app.serving.scheduling.test_request_queue import PATIENCE, wait_until
from tests.app.serving.scheduling.test_single_flight_cache import in_thread
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.translator import Translator
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue, Superseded, Visitor
from viz_app.serving.scheduling.single_flight_cache import ShouldStop
from viz_app.text.examples import EXAMPLES

TEXT = "The dog is fast."
KEY = ("test",)


@pytest.fixture
def service(random_checkpoint: Path) -> TranslationService:
    return TranslationService(Translator.load(random_checkpoint), RequestQueue(1))


def test_a_newer_request_ends_an_older_one_of_its_session_at_the_next_step(service: TranslationService) -> None:
    started = threading.Event()

    def decode(should_stop: ShouldStop) -> str:
        started.set()
        wait_until(should_stop)
        raise DecodingStopped("as the beam search does")

    thread, outcome = in_thread(lambda: service.compute_once("me", KEY, decode))
    assert started.wait(PATIENCE)
    assert service.compute_once("me", ("other",), lambda _: "newer") == "newer"
    thread.join(PATIENCE)
    assert isinstance(outcome[0], Superseded)
    assert service.compute_once("you", KEY, lambda _: "again") == "again", "nothing is kept of what was given up"


def test_memory_is_bounded_whatever_is_kept(random_checkpoint: Path) -> None:
    service = TranslationService(Translator.load(random_checkpoint), RequestQueue(1), max_bytes=50_000)
    for number in range(20):
        value = service.compute_once("me", ("array", number), lambda _: {"array": np.zeros(1000)})
        assert value["array"].nbytes == 8000
        assert service.cache.nbytes <= 50_000
    assert 4 <= len(service.cache) <= 6
    service.translate("me", TEXT)
    assert service.cache.nbytes <= 50_000


def test_a_translation_and_a_branch_are_kept_beside_other_values(service: TranslationService) -> None:
    best = service.translate("me", TEXT)
    branch = service.translate_branch("me", best, 1)
    assert service.compute_once("me", ("lesson", TEXT), lambda _: "own") == "own"
    with service.queue.ticket("busy") as busy, service.queue.slot(busy):  # what is known needs no turn
        assert service.translate("you", TEXT) is best
        assert service.translate_branch("you", best, 1) is branch
        assert service.compute_once("you", ("lesson", TEXT), lambda _: pytest.fail("once only")) == "own"


def test_examples_are_never_evicted_and_need_no_turn(random_checkpoint: Path) -> None:
    service = TranslationService(Translator.load(random_checkpoint), RequestQueue(1), max_bytes=50_000)
    service.translate_examples()
    before = {text: service.translate("me", text) for text in EXAMPLES.values()}
    for number in range(10):
        service.translate("somebody", f"The dog is {number}.")
    with service.queue.ticket("busy") as busy, service.queue.slot(busy):
        for text, result in before.items():
            assert service.translate("me", text) is result


def test_work_stops_when_its_visitor_has_left(random_checkpoint: Path) -> None:
    present = [True]
    queue = RequestQueue(1, visitor=lambda: Visitor("1.2.3.4", lambda: present[0]))
    service = TranslationService(Translator.load(random_checkpoint), queue)

    def leave_while_it_works(should_stop: ShouldStop) -> str:
        assert not should_stop()
        present[0] = False
        assert should_stop()
        raise DecodingStopped

    with pytest.raises(Superseded):
        service.compute_once("me", ("never",), leave_while_it_works)
    assert queue.working == 0
    with pytest.raises(Superseded):  # nor does a request begin
        service.translate("me", "The dog sleeps.")
