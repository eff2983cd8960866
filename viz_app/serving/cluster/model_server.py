"""Model server: models behind Ray Serve, which forms the batches and keeps the replicas alive.

Front ends speak plain HTTP to Serve's proxy (`remote_decoder`); only this module needs Ray. To add a
deployment, write its class and add a line to `applications`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

# Before Ray is imported: nothing is sent to its makers, and who has no token is no part of the cluster.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_MODE", "token")
os.environ.setdefault("RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S", "60")  # Ray gives up after 5, too few on a busy machine
if not os.environ.get("RAY_ADDRESS"):
    # A cluster of this machine alone listens on 127.0.0.1, as it does by default on macOS and Windows.
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")

import msgspec
import ray
from ray import serve
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from transformer_core.attention_maps import MapsTooLarge
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import Translator
from viz_app.serving.classes.class_messages import FAILED, MAX_CALL_BYTES, Failure, call
from viz_app.serving.classes.classrooms import Classrooms, keep_in_file
from viz_app.serving.cluster.decoding_messages import (
    MAX_REQUEST_BYTES,
    STATUS,
    Identity,
    Refusal,
    Refused,
    read_request,
    to_reply,
)
from viz_app.serving.cluster.private_files import keep_token_private, private_folder
from viz_app.serving.decoding.decoded_batch import decode_together
from viz_app.serving.decoding.decoding_limits import DEADLINE, MAX_MAP_BYTES, MAX_QUEUED, length_class, max_batch_size
from viz_app.serving.server_address import CLASSES_PATH, PATH

MAX_ONGOING = 256  # requests of a replica

_BATCH_SECONDS = 0.005  # the first sentence of a batch waits this long for others
_REQUEST_SECONDS = 2 * DEADLINE

_log = logging.getLogger("ray.serve")

Answer = bytes | Refusal


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """Options of a model server.

    Args:
        checkpoint: Folder of the model, with the same path on every machine.
        replicas: Processes that hold the model.
        gpus_per_replica: GPUs of each replica; less than 1 shares a GPU, 0 decodes on the CPU.
        host: Address of Serve's HTTP proxy.
        port: Port of the proxy.
    """

    checkpoint: str
    replicas: int = 1
    gpus_per_replica: float = 0.0
    host: str = "127.0.0.1"
    port: int = 8000


def applications(options: ServerOptions) -> dict[str, serve.Application]:
    """Return the deployments behind Serve's HTTP proxy, by path. One that does not compute has `"num_cpus": 0`."""
    model = serve.deployment(
        ModelReplica,
        name="model",
        num_replicas=options.replicas,
        ray_actor_options={"num_cpus": 1, "num_gpus": options.gpus_per_replica},
        max_ongoing_requests=MAX_ONGOING,
        max_queued_requests=MAX_QUEUED,
    )
    # One replica: the answers of a class are in one memory.
    classes = serve.deployment(
        ClassReplica,
        name="classes",
        num_replicas=1,
        ray_actor_options={"num_cpus": 0},
        max_ongoing_requests=MAX_ONGOING,
        max_queued_requests=MAX_QUEUED,
    )
    return {
        PATH: model.bind(options.checkpoint, "cuda" if options.gpus_per_replica else "cpu"),
        CLASSES_PATH: classes.bind(f"model-{options.port}"),
    }


def start(options: ServerOptions) -> None:
    """Start the server, in the cluster that RAY_ADDRESS names or else in its own; returns when it answers."""
    keep_token_private()
    if os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=False)
    else:
        cpus = max(os.cpu_count() or 1, options.replicas)
        ray.init("local", num_cpus=cpus, include_dashboard=False, log_to_driver=False, _temp_dir=private_folder())
    http = {"host": options.host, "port": options.port, "request_timeout_s": _REQUEST_SECONDS}
    # The proxy runs on this machine only: the address may not exist on another one.
    serve.start(
        proxy_location="HeadOnly",
        http_options=http,
        logging_config={"log_level": "WARNING", "enable_access_log": False},
    )
    for path, application in applications(options).items():
        serve.run(application, name=path.strip("/"), route_prefix=path)


def stop() -> None:
    """End the server, and its own cluster."""
    serve.shutdown()
    ray.shutdown()


@dataclass(eq=False)
class _Sentence:
    encoding: Encoding
    given_up: bool = False  # its front end has closed the connection


class ModelReplica:
    """Process that holds the model.

    Args:
        folder: Folder of its checkpoint.
        device: Device of decoding.
    """

    def __init__(self, folder: str, device: str) -> None:
        import torch

        torch.set_num_threads(1)
        self._translator = Translator.load(folder, device)
        self._translator.most_map_bytes = MAX_MAP_BYTES
        self._thread = ThreadPoolExecutor(1, "decoding")
        self._batches: dict[tuple[int, int], Callable[[_Sentence], Awaitable[Answer]]] = {}
        self._decoding = 0  # batches that are decoded, or wait for the thread
        self._idle = asyncio.Event()
        self._idle.set()

    async def __call__(self, request: HttpRequest) -> Response:
        """Decode a sentence, or return the model's identity."""
        try:
            _check_sender(request)
            if request.method == "GET":
                return _json(Identity(self._translator.checkpoint_hash))
            asked = read_request(await _body(request), self._translator)
        except Refused as error:
            return _json(error.refusal, STATUS[error.refusal.error])
        sentence = _Sentence(asked.sentence)
        try:
            # Serve closes a batch after a moment even while another one is decoded. Sentences that wait here instead
            # share the next batch.
            await self._idle.wait()
            answer = await self._batch(length_class(len(asked.sentence)), asked.beam)(sentence)
        except asyncio.CancelledError:
            sentence.given_up = True
            raise
        if isinstance(answer, Refusal):
            return _json(answer, STATUS[answer.error])
        return Response(answer, media_type="application/octet-stream")

    def _batch(self, longest: int, beam: int) -> Callable[[_Sentence], Awaitable[Answer]]:
        """Return the function that batches sentences of one length class and beam."""
        if (longest, beam) not in self._batches:

            async def decode(sentences: list[_Sentence]) -> list[Answer]:
                self._decoding += 1
                self._idle.clear()
                try:
                    loop = asyncio.get_running_loop()
                    return await loop.run_in_executor(self._thread, self._decode, sentences, beam)
                finally:
                    self._decoding -= 1
                    if not self._decoding:
                        self._idle.set()

            size = max_batch_size(self._translator.config, longest)
            batched = serve.batch(max_batch_size=size, batch_wait_timeout_s=_BATCH_SECONDS)
            self._batches[longest, beam] = batched(decode)
        return self._batches[longest, beam]

    def _decode(self, sentences: list[_Sentence], beam: int) -> list[Answer]:
        end = time.monotonic() + DEADLINE
        try:
            decoded = decode_together(
                self._translator,
                [each.encoding for each in sentences],
                beam,
                lambda: time.monotonic() > end,
                lambda number: sentences[number].given_up,
            )
            return [
                Refusal("maps_too_large", str(each), each.needed, each.limit)
                if isinstance(each, MapsTooLarge)
                else to_reply(each)
                if each is not None
                else Refusal("failed", "given up")
                for each in decoded
            ]
        except DecodingStopped:
            return [Refusal("deadline", f"no translation after {DEADLINE:g} seconds")] * len(sentences)
        except Exception as error:
            _log.exception("a batch of %d sentences failed", len(sentences))
            return [Refusal("failed", type(error).__name__)] * len(sentences)


class ClassReplica:
    """Process that holds the classes of all front ends.

    Args:
        server: Name of the model server, the same at its next start on this machine.
    """

    def __init__(self, server: str) -> None:
        self._store = Classrooms()
        keep_in_file(self._store, server)

    async def __call__(self, request: HttpRequest) -> Response:
        """Call a method of `Classrooms`, named by the path."""
        try:
            _check_sender(request)
            arguments = await _body(request, MAX_CALL_BYTES)
        except Refused as error:
            return _json(error.refusal, STATUS[error.refusal.error])
        result = call(self._store, request.url.path.rpartition("/")[2], arguments)
        if isinstance(result, Failure):
            return _json(result, FAILED)
        return Response(result, media_type="application/json")


def _check_sender(request: HttpRequest) -> None:
    """Raise Refused for a request that a web page can make a browser send; front ends send JSON and no such header."""
    if not {"origin", "sec-fetch-site"}.isdisjoint(request.headers):
        raise Refused(Refusal("request", "web pages may not use the model server"))
    if request.method != "GET" and request.headers.get("content-type") != "application/json":
        raise Refused(Refusal("request", "a request must be application/json"))


async def _body(request: HttpRequest, max_bytes: int = MAX_REQUEST_BYTES) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise Refused(Refusal("request", f"a request may have {max_bytes:,} bytes"))
    return bytes(body)


def _json(value: msgspec.Struct, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")
