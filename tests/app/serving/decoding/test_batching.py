"""Sentences of different visitors in one batch: each gets what it would get alone, and pays for itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.serving.scheduling.test_request_queue import PATIENCE, all_busy, wait_until
from tests.app.serving.scheduling.test_single_flight_cache import in_thread
from transformer_core.attention_maps import KINDS, AttentionMaps, MapsTooLarge, map_bytes
from transformer_core.decoding.draft import Draft
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import Translator
from viz_app.serving.decoding import decoded_batch as decoding
from viz_app.serving.models.translation_service import BEAM, TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue, Superseded

TEXTS = ["The dog.", "The dog is fast.", "A man reads a book.", "She is here.", "We know the old house near the sea."]
LONG = "the dog and " * 15


@pytest.fixture
def service(random_checkpoint: Path) -> TranslationService:
    return TranslationService(Translator.load(random_checkpoint), RequestQueue(1))


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The lengths of the sentences of each batch that is decoded."""
    rows: list[list[int]] = []
    decode_together = decoding.decode_together

    def noted(translator: Translator, sentences: Sequence[Encoding], *args: Any) -> Any:
        rows.append([len(each) for each in sentences])
        return decode_together(translator, sentences, *args)

    monkeypatch.setattr(decoding, "decode_together", noted)
    return rows


def ask_all(service: TranslationService, texts: Sequence[str]) -> list[tuple[threading.Thread, list[Any]]]:
    """All at once, each by a session of its own, which is called like its place."""
    asked: list[tuple[threading.Thread, list[Any]]] = []
    with all_busy(service.queue):
        for number, text in enumerate(texts):
            asked.append(in_thread(lambda number=number, text=text: service.translate(str(number), text)))  # type: ignore[misc]
            wait_until(lambda number=number: service.queue.waiting == number + 1)  # type: ignore[misc]
    return asked


def answers_to(service: TranslationService, texts: Sequence[str]) -> list[Any]:
    """Answers to each, all at once."""
    asked = ask_all(service, texts)
    for thread, _ in asked:
        thread.join(PATIENCE)
    return [outcome[0] for _, outcome in asked]


def check_all(service: TranslationService, texts: Sequence[str]) -> None:
    for result, text in zip(answers_to(service, texts), texts, strict=True):
        check(result, service.translator, text)


def same_maps(one: AttentionMaps, other: AttentionMaps, atol: float = 0.0) -> None:
    for kind in KINDS:
        np.testing.assert_allclose(one.weights(kind), other.weights(kind), rtol=0, atol=atol)
        assert one.queries(kind) == other.queries(kind) and one.keys(kind) == other.keys(kind)
    assert one.finished == other.finished


def check(result: TranslationResult, translator: Translator, text: str) -> None:
    alone = translator.translate(text, beam=BEAM)
    assert result.translation.text == alone.text and result.translation.source == text
    assert result.translation.scores == pytest.approx(alone.scores, abs=1e-5)
    assert [each.ids for each in result.translation.hypotheses] == [each.ids for each in alone.hypotheses]
    assert [node.token for node in result.translation.history] == [node.token for node in alone.history]
    same_maps(result.maps, alone.attention, atol=1e-5)


def test_whoever_waits_is_decoded_with_the_others(service: TranslationService, batches: list[list[int]]) -> None:
    check_all(service, TEXTS)
    assert len(batches) == 1 and len(batches[0]) == len(TEXTS)


def test_a_long_sentence_does_not_hold_up_short_ones(service: TranslationService, batches: list[list[int]]) -> None:
    check_all(service, [TEXTS[0], LONG, TEXTS[1]])
    assert list(map(len, batches)) == [2, 1]


def test_long_sentences_share_a_batch_with_few_others(
    service: TranslationService, batches: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their maps must all fit into memory, and grow with the square of the length."""
    heads = service.translator.config.num_layers * service.translator.config.num_heads
    monkeypatch.setattr("viz_app.serving.decoding.decoding_limits._MAX_BYTES", 2 * map_bytes(heads, 150, 150))
    texts = [f"{word} the dog and" * 10 for word in ("a", "the", "my", "her", "our")]
    check_all(service, texts)
    assert {length for batch in batches for length in batch} <= set(range(50, 75)), "75 beside 150 tokens: two fit"
    assert sorted(map(len, batches)) in ([1, 2, 2], [2, 3])


def test_who_leaves_is_decoded_no_further(service: TranslationService, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one who leads the batch as well as one who is taken along."""
    given_up: list[list[int]] = []
    searched, go = threading.Event(), threading.Event()
    search = service.translator.search

    def slowly(sources: Any, *, is_given_up: Callable[[int], bool] | None = None, **others: Any) -> Any:
        searched.set()
        assert go.wait(PATIENCE)
        results = search(sources, is_given_up=is_given_up, **others)
        given_up.append([number for number, result in enumerate(results) if not result.hypotheses])
        return results

    monkeypatch.setattr(service.translator, "search", slowly)
    asked = ask_all(service, TEXTS[:4])
    assert searched.wait(PATIENCE)
    newer = [in_thread(lambda name=name: service.translate(name, TEXTS[4])) for name in ("0", "2")]  # type: ignore[misc]
    wait_until(lambda: service.queue.waiting == 1)
    go.set()
    for thread, _ in [*asked, *newer]:
        thread.join(PATIENCE)
    assert given_up[0] == [0, 2]
    assert isinstance(asked[0][1][0], Superseded) and isinstance(asked[2][1][0], Superseded)
    for number in (1, 3):
        check(asked[number][1][0], service.translator, TEXTS[number])
    for _, outcome in newer:
        check(outcome[0], service.translator, TEXTS[4])


def test_drafts_are_those_of_the_search(service: TranslationService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "DRAFT_SECONDS", 0.0)
    drafts: list[decoding.DraftBytes] = []
    check(service.translate("a", TEXTS[4], on_draft=drafts.append), service.translator, TEXTS[4])
    encoding, expected = service.translator.encode(TEXTS[4]), list[Draft]()
    service.translator.search([encoding.ids], beam=BEAM, on_step=lambda number, draft: expected.append(draft))
    assert [(each.ids, each.finished) for each in drafts] == [(each.ids, each.finished) for each in expected]
    for draft in drafts:
        maps = service.translator.attention(encoding, draft.ids, draft.finished)
        rows = [
            part
            for row in range(len(draft.ids) + draft.finished)
            for part in (maps.decoder[:, :, row, : row + 1], maps.cross[:, :, row])
        ]
        sent = np.frombuffer(draft.rows, np.uint8) / 255
        np.testing.assert_allclose(sent, np.concatenate([part.ravel() for part in rows]), atol=1 / 500)


def test_the_first_step_is_a_draft_however_quick_the_search_is(service: TranslationService) -> None:
    drafts: list[decoding.DraftBytes] = []
    service.translate("a", TEXTS[4], on_draft=drafts.append)
    assert len(drafts[0].ids) + drafts[0].finished == 1


def test_a_run_that_ends_at_a_draft_ends_no_batch(
    service: TranslationService, batches: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended(BaseException):
        pass

    def end(draft: object) -> None:
        raise Ended

    threads: set[int] = set()
    calls: list[Any] = [end, lambda draft: threads.add(threading.get_ident()), None]
    monkeypatch.setattr(decoding, "DRAFT_SECONDS", 0.0)
    outcomes: list[list[Any]] = [[], [], []]

    def ask(number: int) -> None:
        try:
            outcomes[number].append(service.translate(str(number), f"{LONG}{number}", on_draft=calls[number]))
        except Ended as error:
            outcomes[number].append(error)

    asked = []
    with all_busy(service.queue):
        for number in range(3):
            asked.append(threading.Thread(target=ask, args=(number,)))
            asked[-1].start()
            wait_until(lambda number=number: service.queue.waiting == number + 1)  # type: ignore[misc]
    for thread in asked:
        thread.join(PATIENCE)
    assert len(batches) == 1 and isinstance(outcomes[0][0], Ended) and threads <= {asked[1].ident}
    for number in (1, 2):
        check(outcomes[number][0], service.translator, f"{LONG}{number}")


def test_only_the_sentence_that_is_too_large_is_refused(service: TranslationService, batches: list[list[int]]) -> None:
    plain = [service.translator.translate(text, beam=BEAM).attention for text in TEXTS]
    sizes = [sum(maps.weights(kind).nbytes for kind in KINDS) for maps in plain]
    service.translator.most_map_bytes = sorted(sizes)[-2]
    outcomes = answers_to(service, TEXTS)
    assert len(batches) == 1
    for outcome, size in zip(outcomes, sizes, strict=True):
        assert isinstance(outcome, MapsTooLarge) == (size == max(sizes))


def test_an_error_reaches_everybody_in_the_batch(service: TranslationService, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError("no more")

    monkeypatch.setattr(service.translator, "search", fail)
    assert all(isinstance(each, MemoryError) for each in answers_to(service, TEXTS[:3]))
    monkeypatch.undo()
    check(service.translate("again", TEXTS[0]), service.translator, TEXTS[0])


def test_models_are_not_mixed(random_checkpoint: Path, french_checkpoint: Path, batches: list[list[int]]) -> None:
    queue = RequestQueue(1)
    services = [TranslationService(Translator.load(folder), queue) for folder in (random_checkpoint, french_checkpoint)]
    asked = []
    with all_busy(queue):
        for number in range(4):
            served = services[number % 2]
            asked.append(in_thread(lambda number=number, served=served: served.translate(str(number), TEXTS[number])))  # type: ignore[misc]
            wait_until(lambda number=number: queue.waiting == number + 1)  # type: ignore[misc]
    for number, (thread, outcome) in enumerate(asked):
        thread.join(PATIENCE)
        check(outcome[0], services[number % 2].translator, TEXTS[number])
    assert list(map(len, batches)) == [2, 2]
