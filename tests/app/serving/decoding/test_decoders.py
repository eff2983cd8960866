"""Sentences decoded by this server and by a model server on Ray: the same answers, errors and patience of both.

The model server is the command `serve` in a process of its own, started once for the file.
"""

from __future__ import annotations

import http.client
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks.server.visitor import processes
from tests.app.serving.decoding.test_batching import TEXTS, check
from tests.app.serving.scheduling.test_request_queue import PATIENCE, wait_until
from tests.app.serving.scheduling.test_single_flight_cache import in_thread
from tests.missing import skip_or_fail
from transformer_core.attention_maps import MapsTooLarge
from transformer_core.translator import Translator
from viz_app.serving.classes.classrooms import AnswerRefused, NoSuchClass, NotTheTeacher
from viz_app.serving.classes.polls import OwnQuestion
from viz_app.serving.classes.remote_classrooms import ClassServerAway, RemoteClassrooms
from viz_app.serving.cluster.decoding_messages import MAX_REQUEST_BYTES
from viz_app.serving.cluster.remote_decoder import OtherModel, RemoteDecoder
from viz_app.serving.decoding.batching import Batcher, DeadlineExceeded
from viz_app.serving.decoding.decoding_limits import DEADLINE
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue, Superseded
from viz_app.serving.server_address import CLASSES_PATH, PATH

ROOT = Path(__file__).resolve().parents[4]
START = 300.0  # seconds that a cluster may take on a busy machine: three workers of the tests and mypy beside it
LONG = "the dog and " * 40
SLOW = "the dog and " * 80  # takes a second with a wide beam


class ModelServer:
    """The command, running.

    Args:
        process: It.
        address: Host and port.
    """

    def __init__(self, process: subprocess.Popen[str], address: tuple[str, int]) -> None:
        self.process, self.address = process, address

    def ask(self, method: str, body: bytes = b"") -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        connection.request(method, PATH, body)
        response = connection.getresponse()
        return response.status, response.read()

    def replicas(self, holding: str = "model") -> list[int]:
        """Processes that hold the model, or the classes."""
        rows = []
        for pid in processes(self.process.pid):
            try:
                title = Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(f"ray::ServeReplica:{holding}".encode()):
                rows.append(pid)
        return rows


@pytest.fixture(scope="module")
def server(random_checkpoint: Path) -> Iterator[ModelServer]:
    if find_spec("ray") is None:
        skip_or_fail("needs Ray: pip install 'headlight[cluster]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "viz_app", "serve", f"--port={port}", f"--checkpoint={random_checkpoint}"]
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    environment["RAY_AUTH_TOKEN"] = secrets.token_hex(32)  # else Ray leaves one in the home of who runs the tests
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        timer = threading.Timer(START, process.kill)
        timer.start()
        assert process.stdout.readline() == f"Model server: http://127.0.0.1:{port}\n"
        timer.cancel()
        yield ModelServer(process, ("127.0.0.1", port))
        process.terminate()
        assert process.wait(START) == 0


@pytest.fixture
def translator(random_checkpoint: Path) -> Translator:
    return Translator.load(random_checkpoint)


Make = Callable[[float], TranslationService]


@pytest.fixture(params=["embedded", pytest.param("remote", marks=pytest.mark.process)])
def make(request: pytest.FixtureRequest, translator: Translator) -> Make:
    """A service with a deadline."""

    def embedded(deadline: float) -> TranslationService:
        queue = RequestQueue(1)
        return TranslationService(translator, queue, decoder=Batcher(translator, queue, deadline=deadline))

    def remote(deadline: float) -> TranslationService:
        queue, address = RequestQueue(1, batches=64), request.getfixturevalue("server").address
        return TranslationService(translator, queue, decoder=RemoteDecoder(address, translator, queue, deadline))

    return embedded if request.param == "embedded" else remote


@pytest.fixture
def service(make: Make) -> TranslationService:
    return make(DEADLINE)


def all_at_once(service: TranslationService, texts: list[str]) -> list[Any]:
    asked = [in_thread(lambda text=text: service.translate(text, text)) for text in texts]  # type: ignore[misc]
    for thread, _ in asked:
        thread.join(START)
    return [outcome[0] for _, outcome in asked]


def test_whoever_asks_gets_what_the_model_makes_of_it(service: TranslationService) -> None:
    """Search and maps with their labels; short and long ones, with a character that the vocabulary lacks, and none."""
    assert service.decoder.is_ready()
    service.decoder.start()
    texts = [*TEXTS, LONG, "the dog \u2603", ""]
    for result, text in zip(all_at_once(service, texts), texts, strict=True):
        check(result, service.translator, text)


def test_who_types_on_is_free_at_once(service: TranslationService) -> None:
    thread, outcome = in_thread(lambda: service.translate("me", SLOW, beam=16))
    wait_until(lambda: service.queue.working == 1)
    time.sleep(0.2)  # it is being decoded
    started = time.monotonic()
    with service.queue.ticket("me"):
        thread.join(PATIENCE)
    assert isinstance(outcome[0], Superseded) and time.monotonic() - started < 1.0
    assert service.queue.working == 0
    check(service.translate("me", TEXTS[0]), service.translator, TEXTS[0])


def test_a_sentence_has_a_deadline(make: Make) -> None:
    service = make(0.0)
    with pytest.raises(DeadlineExceeded, match="no translation after 0 seconds"):
        service.translate("me", SLOW, beam=16)
    assert service.queue.working == 0


def test_maps_that_are_too_large_are_refused(service: TranslationService) -> None:
    service.translator.most_map_bytes = 1000
    for outcome in all_at_once(service, TEXTS[:2]):
        assert isinstance(outcome, MapsTooLarge) and outcome.limit == 1000


@pytest.mark.process
def test_another_model_is_an_error_that_says_so(server: ModelServer, french_checkpoint: Path) -> None:
    other, queue = Translator.load(french_checkpoint), RequestQueue(1)
    service = TranslationService(other, queue, decoder=RemoteDecoder(server.address, other, queue))
    assert not service.decoder.is_ready()
    with pytest.raises(OtherModel, match="this server has the model"):
        service.translate("me", TEXTS[0])


@pytest.mark.parametrize("body", [b"", b"{}", b"x" * (MAX_REQUEST_BYTES + 1), b'{"beam": 1e999}'])
@pytest.mark.process
def test_a_request_of_a_stranger_is_refused(server: ModelServer, body: bytes) -> None:
    status, answer = server.ask("POST", body)
    assert status == 400 and answer.startswith(b'{"error":"request"')


@pytest.mark.process
def test_front_ends_share_the_classes_of_the_server(server: ModelServer) -> None:
    here, elsewhere = RemoteClassrooms(server.address), RemoteClassrooms(server.address)
    code = here.open("teacher", "10.0.0.1")
    here.ask(code, "teacher", OwnQuestion(text="Which?", choices=("a", "b"), right=1))
    elsewhere.answer(code, "student", 1, 1)
    assert here.look(code, "teacher").counts == {1: 1} and elsewhere.look(code, "student").mine == 1
    with pytest.raises(AnswerRefused):
        elsewhere.answer(code, "student", 1, 2)
    with pytest.raises(NotTheTeacher):
        elsewhere.end(code, "student")
    here.end(code, "teacher")
    with pytest.raises(NoSuchClass):
        elsewhere.look(code, "student")
    for method, body in (("look", b"x"), ("_class", b'["ABCDEF"]'), ("open", b"x" * 300_000)):
        connection = http.client.HTTPConnection(*server.address, timeout=PATIENCE)
        connection.request("POST", f"{CLASSES_PATH}/{method}", body)
        assert connection.getresponse().status in (400, 409)


@pytest.mark.skipif(not Path("/proc").exists(), reason="finds the replica by /proc")
@pytest.mark.process
def test_classes_survive_their_process(server: ModelServer) -> None:
    store, secret = RemoteClassrooms(server.address), RemoteClassrooms(server.address).cookie_secret()
    code = store.open("teacher", "10.0.0.1")
    store.ask(code, "teacher", OwnQuestion(text="Which?", choices=("a", "b"), right=1))
    store.answer(code, "student", 1, 1)
    time.sleep(1.5)  # until it is in the file
    (killed,) = server.replicas("classroom")
    os.kill(killed, signal.SIGKILL)

    def answers() -> bool:
        with suppress(ClassServerAway):
            return bool(store.look(code, "student").mine == 1 and store.cookie_secret() == secret)
        return False

    wait_until(answers, START)  # Ray starts another one
    store.end(code, "teacher")


@pytest.mark.skipif(not Path("/proc").exists(), reason="finds the replica by /proc")
@pytest.mark.process
def test_nobody_notices_that_a_replica_is_killed(server: ModelServer, translator: Translator) -> None:
    """It is killed at work; the next one answers, and what was lost is asked for again."""
    queue = RequestQueue(1, batches=64)
    service = TranslationService(translator, queue, decoder=RemoteDecoder(server.address, translator, queue))
    (killed,) = server.replicas()
    texts = [SLOW, *TEXTS]
    asked = [in_thread(lambda text=text: service.translate(text, text)) for text in texts]  # type: ignore[misc]
    wait_until(lambda: queue.working == len(asked))
    os.kill(killed, signal.SIGKILL)
    for (thread, outcome), text in zip(asked, texts, strict=True):
        thread.join(START)
        check(outcome[0], translator, text)
    assert killed not in server.replicas()


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads open ports of Linux")
@pytest.mark.process
def test_the_cluster_listens_on_this_machine_only(server: ModelServer) -> None:
    """But for one port of each replica, on which Serve listens for others of the cluster: they have the token."""
    grpc = pytest.importorskip("grpc")
    result = open_to_all(server)
    assert len(result) <= len(server.replicas()) + 1  # that of the classes
    for port in result:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            call = channel.unary_unary("/ray.serve.ASGIService/HandleRequest")
            with pytest.raises(grpc.RpcError) as refused:
                call(b"", timeout=PATIENCE)
            assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED


def open_to_all(server: ModelServer) -> list[int]:
    """Ports of the cluster that listen on every address."""
    sockets = set()
    for pid in processes(server.process.pid):
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                target = os.readlink(link)
            except OSError:
                continue
            if target.startswith("socket:["):
                sockets.add(target[8:-1])
    rows = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            address, port = fields[1].rsplit(":", 1)
            if fields[3] == "0A" and fields[9] in sockets and not address.strip("0"):
                rows.append(int(port, 16))
    return rows
