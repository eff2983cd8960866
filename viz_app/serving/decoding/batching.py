"""Dynamic batching: sentences of different visitors that wait for the same model are decoded together.

A model multiplies thirty sentences with its weights in little more time than it takes to read the weights once. So
whoever is first in line takes those along that are about as long: a batch lasts as long as its longest sentence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from viz_app.serving.decoding.decoding_limits import DEADLINE, max_batch_length, max_batch_size, same_bucket
from viz_app.serving.decoding.worker_processes import ModelKey, NoneReady, WorkerProcesses
from viz_app.serving.scheduling.monitoring import batch_sentences
from viz_app.serving.scheduling.request_queue import OnPosition, RequestQueue, Superseded, Ticket
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.attention_maps import MapsTooLarge
    from transformer_core.text.tokenizer import Encoding
    from transformer_core.translator import Translator
    from viz_app.serving.decoding.decoded_batch import Decoded

_LOOK_UP_SECONDS = 0.1  # so that a sentence that nobody wants is noticed


class DeadlineExceeded(Exception):
    """A request took longer than it may, as with a model whose settings never let a translation end."""


@dataclass(frozen=True, eq=False)
class _Sentence:
    """What is to be done for a ticket.

    Args:
        batcher: Whose it is.
        encoding: The sentence.
        beam: Hypotheses kept at each step.
        should_stop: Whether nobody wants it any more.
        decoded: What comes of it.
    """

    batcher: Batcher
    encoding: Encoding
    beam: int
    should_stop: ShouldStop
    decoded: Future[Decoded] = field(default_factory=Future)


def _fits(first: object, other: object) -> bool:
    assert isinstance(first, _Sentence) and isinstance(other, _Sentence)
    same = first.batcher is other.batcher and first.beam == other.beam
    return same and same_bucket(first.encoding, other.encoding)


class Batcher:
    """Decodes sentences with one model as they come, together where several wait.

    Args:
        translator: The model.
        queue: Where requests wait for their turn.
        workers: Processes that decode; None for this one.
        deadline: Seconds that a batch may take.
    """

    def __init__(
        self,
        translator: Translator,
        queue: RequestQueue,
        workers: WorkerProcesses | None = None,
        deadline: float = DEADLINE,
    ) -> None:
        self._translator, self._queue, self._workers, self._deadline = translator, queue, workers, deadline

    def decode(
        self, ticket: Ticket, encoding: Encoding, beam: int, should_stop: ShouldStop, on_position: OnPosition | None
    ) -> Decoded:
        """See `Decoder`; the deadline is that of the batch."""
        sentence = _Sentence(self, encoding, beam, should_stop)
        ticket.work = sentence
        most = max_batch_size(self._translator.config, max_batch_length(len(encoding)))
        with self._queue.batch(ticket, _fits, most, on_position) as together:
            if together:
                self._decode([each.work for each in together if isinstance(each.work, _Sentence)])
        while True:
            try:
                return sentence.decoded.result(_LOOK_UP_SECONDS)
            except TimeoutError:
                if should_stop():
                    raise Superseded from None

    def start(self) -> None:
        """Let the processes load the model."""
        if self._workers is not None:
            self._workers.start(self._key(self._workers))

    def is_ready(self) -> bool:
        """Always: as long as no process is, this one decodes."""
        return True

    def _decode(self, sentences: Sequence[_Sentence]) -> None:
        """Give each sentence what comes of it, be it an error."""
        from transformer_core.decoding.beam import DecodingStopped  # with torch, which takes seconds to import

        batch_sentences.observe(len(sentences))
        end = time.monotonic() + self._deadline
        try:
            found = self._run(
                [each.encoding for each in sentences],
                sentences[0].beam,
                lambda: time.monotonic() > end,
                lambda number: sentences[number].should_stop(),
            )
        except DecodingStopped:
            error = DeadlineExceeded(f"no translation after {self._deadline:g} seconds")
            for each in sentences:
                each.decoded.set_exception(error)
        except BaseException as error:
            for each in sentences:
                each.decoded.set_exception(error)
            if not isinstance(error, Exception):
                raise
        else:
            for each, decoded in zip(sentences, found, strict=True):
                if decoded is None:
                    each.decoded.set_exception(Superseded())
                elif isinstance(decoded, Exception):
                    each.decoded.set_exception(decoded)
                else:
                    each.decoded.set_result(decoded)

    def _run(
        self,
        encodings: Sequence[Encoding],
        beam: int,
        should_stop: Callable[[], bool],
        is_given_up: Callable[[int], bool],
    ) -> list[Decoded | MapsTooLarge | None]:
        from viz_app.serving.decoding.decoded_batch import decode_together

        checkpoint = self._translator.checkpoint
        if self._workers is not None and checkpoint is not None:
            try:
                return self._workers.decode(self._key(self._workers), encodings, beam, should_stop, is_given_up)
            except NoneReady:
                pass
        return decode_together(self._translator, encodings, beam, should_stop, is_given_up)

    def _key(self, workers: WorkerProcesses) -> ModelKey:
        """The model, as these processes know it."""
        checkpoint = self._translator.checkpoint
        assert checkpoint is not None, "a model that was loaded from a folder"
        most = self._translator.most_map_bytes
        return ModelKey(str(checkpoint.folder), checkpoint.weights_hash, most, workers.device)
