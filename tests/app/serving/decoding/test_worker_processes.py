"""Decoding in processes: results, the order to stop, and the death of one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from tests.app.serving.decoding.test_batching import TEXTS, check, check_all, same_maps
from tests.app.serving.scheduling.test_request_queue import wait_until
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import Translator
from viz_app.serving.decoding.batching import Batcher
from viz_app.serving.decoding.decoded_batch import Decoded, DraftBytes, decode_together
from viz_app.serving.decoding.worker_processes import ModelKey, NoneReady, WorkerLost, WorkerProcesses
from viz_app.serving.models.translation_service import BEAM, TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[4]
START = 60.0  # seconds that a process may take to start on a busy machine


def never(number: int = 0) -> bool:
    return False


@pytest.fixture(scope="module")
def key(translator: Translator, random_checkpoint: Path) -> ModelKey:
    return ModelKey(str(random_checkpoint), translator.checkpoint_hash, None)


@pytest.fixture(scope="module")
def workers(key: ModelKey) -> Iterator[WorkerProcesses]:
    result = WorkerProcesses(1)
    result.start(key)
    wait_until(lambda: result.ready == 1, START)
    yield result
    result.close()


def pid(workers: WorkerProcesses) -> int:
    executor = workers._all[0]._executor
    assert executor is not None
    (result,) = executor._processes
    return int(result)


def encodings(translator: Translator, texts: list[str]) -> list[Encoding]:
    return [translator.encode(text) for text in texts]


def served_by(translator: Translator, workers: WorkerProcesses) -> TranslationService:
    queue = RequestQueue(1)
    return TranslationService(translator, queue, decoder=Batcher(translator, queue, workers))


def assert_same(result: list[Any], expected: list[Any]) -> None:
    for one, other in zip(result, expected, strict=True):
        assert isinstance(one, Decoded) and one.result == other.result
        same_maps(one.maps, other.maps)


def test_a_process_decodes_as_this_one(workers: WorkerProcesses, key: ModelKey, translator: Translator) -> None:
    sentences = encodings(translator, TEXTS)
    text = workers.decode(key, sentences, BEAM, never, never)
    assert_same(text, decode_together(translator, sentences, BEAM, never, never))
    assert pid(workers) != os.getpid()


def test_it_hears_what_is_given_up_and_when_to_stop(
    workers: WorkerProcesses, key: ModelKey, random_checkpoint: Path
) -> None:
    """A model that translates for seconds, so that there is time to say so."""
    translator = Translator.load(random_checkpoint)
    sentences = encodings(translator, ["the dog and " * 40, "the dog or " * 40])
    text = workers.decode(key, sentences, 16, never, lambda number: number == 1)
    assert isinstance(text[0], Decoded) and text[1] is None
    with pytest.raises(DecodingStopped):
        workers.decode(key, sentences, 16, lambda: True, never)
    assert isinstance(workers.decode(key, sentences[:1], 1, never, never)[0], Decoded), "the next one is not stopped"


def test_it_sends_drafts_of_the_sentences_that_want_them(
    workers: WorkerProcesses, key: ModelKey, translator: Translator
) -> None:
    sentences = encodings(translator, ["the dog and " * 40, "the dog or " * 40])
    drafts: list[tuple[int, DraftBytes]] = []
    decoded = workers.decode(key, sentences, 16, never, never, [1], lambda *each: drafts.append(each))
    assert_same(decoded, decode_together(translator, sentences, 16, never, never))
    assert drafts and {number for number, _ in drafts} == {1}
    heads = translator.config.num_layers * translator.config.num_heads
    for _, draft in drafts:
        rows = range(len(draft.ids) + draft.finished)
        assert len(draft.rows) == heads * sum(row + 1 + len(sentences[1]) + 1 for row in rows)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("when", ["idle", "at work"])
def test_one_that_is_killed_is_replaced_and_its_work_done_again(
    workers: WorkerProcesses, key: ModelKey, translator: Translator, when: str
) -> None:
    sentences = encodings(translator, ["the dog and " * 40, *TEXTS])
    killed = pid(workers)
    asked: list[float] = []

    def kill_at_work(number: int) -> bool:
        if not asked:
            os.kill(killed, signal.SIGKILL)
            asked.append(time.monotonic())
        return False

    if when == "idle":
        os.kill(killed, signal.SIGKILL)
        time.sleep(0.2)
    text = workers.decode(key, sentences, BEAM, never, kill_at_work if when == "at work" else never)
    assert_same(text, decode_together(translator, sentences, BEAM, never, never))
    assert pid(workers) != killed and bool(asked) == (when == "at work")


def test_what_ends_one_process_after_the_other_is_given_up(
    workers: WorkerProcesses, key: ModelKey, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, tries = workers._all[0], []

    def ends(call: Any) -> Any:
        tries.append(call)
        raise BrokenProcessPool

    monkeypatch.setattr(process, "submit", ends)
    with pytest.raises(WorkerLost, match="3 processes ended before a batch of 1 "):
        workers.decode(key, encodings(translator, TEXTS[:1]), BEAM, never, never)
    assert len(tries) == 3
    monkeypatch.undo()
    assert workers.decode(key, encodings(translator, TEXTS[:1]), BEAM, never, never)


def test_the_server_decodes_as_long_as_no_process_can(
    workers: WorkerProcesses, key: ModelKey, translator: Translator, random_checkpoint: Path, tmp_path: Path
) -> None:
    """None has been started; all are at work; the checkpoint has been replaced since it was loaded here."""
    sentences = encodings(translator, TEXTS[:1])
    with pytest.raises(NoneReady):
        WorkerProcesses(1).decode(key, sentences, BEAM, never, never)
    idle = workers._idle.pop()
    with pytest.raises(NoneReady):
        workers.decode(key, sentences, BEAM, never, never)
    workers._idle.append(idle)
    folder = shutil.copytree(random_checkpoint, tmp_path / "replaced")
    with pytest.raises(NoneReady):
        workers.decode(ModelKey(str(folder), "of an older model", None), sentences, BEAM, never, never)
    service = served_by(translator, WorkerProcesses(1))
    check(service.translate("me", TEXTS[0]), translator, TEXTS[0])


def test_visitors_are_served_by_a_process(workers: WorkerProcesses, translator: Translator) -> None:
    service = served_by(translator, workers)
    calls: list[int] = []
    decode = workers.decode
    workers.decode = lambda *args: (calls.append(1), decode(*args))[1]  # type: ignore[method-assign,func-returns-value]
    try:
        check_all(service, TEXTS)
    finally:
        workers.decode = decode  # type: ignore[method-assign]
    assert len(calls) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes in another way")
def test_processes_end_with_a_server_that_is_killed(key: ModelKey) -> None:
    code = (
        "import sys, time; from viz_app.serving.decoding.worker_processes import *\n"
        f"workers = WorkerProcesses(1); workers.start(ModelKey({key.folder!r}, {key.weights_hash!r}, None))\n"
        "while not workers.ready: time.sleep(0.05)\n"
        "print(*workers._all[0]._executor._processes, flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        worker = int(server.stdout.readline())
        server.kill()
    assert server.returncode == -signal.SIGKILL

    def gone() -> bool:
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return True
        return Path(f"/proc/{worker}/stat").read_text().split(") ")[1][0] == "Z" if Path("/proc").exists() else False

    wait_until(gone)
