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

from transformer_core.attention_maps import map_bytes
from viz_app.serving.request_queue import OnPosition, RequestQueue, Superseded, Ticket
from viz_app.serving.single_flight_cache import ShouldStop
from viz_app.serving.worker_processes import MOST_TOGETHER, ModelKey, NoneReady, WorkerProcesses

if TYPE_CHECKING:
    from transformer_core.attention_maps import MapsTooLarge
    from transformer_core.tokenizer import Encoding
    from transformer_core.translator import Translator
    from viz_app.serving.decoding import Decoded

_LONGER = 2.0  # how many times as long as the shortest sentence of a batch the longest one may be
_SHORT = 12  # tokens; sentences up to here are about equally long
_MOST_BYTES = 128 * 2**20  # of the attention maps of a batch
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


def about_as_long(one: Encoding, other: Encoding) -> bool:
    """Whether sentences may share a batch: none waits long for the other."""
    short, long = sorted(max(len(each), _SHORT) for each in (one, other))
    return long <= _LONGER * short


def _fits(first: object, other: object) -> bool:
    assert isinstance(first, _Sentence) and isinstance(other, _Sentence)
    same = first.batcher is other.batcher and first.beam == other.beam
    return same and about_as_long(first.encoding, other.encoding)


class Batcher:
    """Decodes sentences with one model as they come, together where several wait.

    Args:
        translator: The model.
        queue: Where requests wait for their turn.
        workers: Processes that decode; None for this one.
        deadline: Seconds that a batch may take.
    """

    def __init__(
        self, translator: Translator, queue: RequestQueue, workers: WorkerProcesses | None, deadline: float
    ) -> None:
        self._translator, self._queue, self._workers, self._deadline = translator, queue, workers, deadline

    def decode(
        self, ticket: Ticket, encoding: Encoding, beam: int, should_stop: ShouldStop, on_position: OnPosition | None
    ) -> Decoded:
        """Decode a sentence when it is its turn.

        Args:
            ticket: The request.
            encoding: The sentence.
            beam: Hypotheses kept at each step.
            should_stop: Whether nobody wants it any more; asked from any thread.
            on_position: Called with the number of requests ahead while this one waits.

        Raises:
            Superseded: Nobody wants it any more.
            DeadlineExceeded: The batch took too long.
            MapsTooLarge: Its maps take more memory than allowed.
            WorkerLost: The processes that were to decode it ended.
        """
        sentence = _Sentence(self, encoding, beam, should_stop)
        ticket.work = sentence
        with self._queue.batch(ticket, _fits, self._most_together(encoding), on_position) as together:
            if together:
                self._decode([each.work for each in together if isinstance(each.work, _Sentence)])
        while True:
            try:
                return sentence.decoded.result(_LOOK_UP_SECONDS)
            except TimeoutError:
                if should_stop():
                    raise Superseded from None

    def _most_together(self, encoding: Encoding) -> int:
        """Sentences that memory allows beside this one, if all are as long as they may be beside it."""
        longest, config = int(_LONGER * max(len(encoding), _SHORT)), self._translator.config
        return max(
            1, min(MOST_TOGETHER, _MOST_BYTES // map_bytes(config.num_layers * config.num_heads, longest, longest))
        )

    def _decode(self, sentences: Sequence[_Sentence]) -> None:
        """Give each sentence what comes of it, be it an error."""
        from transformer_core.decoding.beam import DecodingStopped  # with torch, which takes seconds to import

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
        from viz_app.serving.decoding import decode_together

        checkpoint = self._translator.checkpoint
        if self._workers is not None and checkpoint is not None:
            try:
                return self._workers.decode(self.key(self._workers), encodings, beam, should_stop, is_given_up)
            except NoneReady:
                pass
        return decode_together(self._translator, encodings, beam, should_stop, is_given_up)

    def key(self, workers: WorkerProcesses) -> ModelKey:
        """The model, as these processes know it."""
        checkpoint = self._translator.checkpoint
        assert checkpoint is not None, "a model that was loaded from a folder"
        most = self._translator.most_map_bytes
        return ModelKey(str(checkpoint.folder), checkpoint.weights_hash, most, workers.device)
