"""Monitoring of a front end: metrics for Prometheus, and a line in the log for each request.

Metrics are for the operator only, so they have a port of their own, on this machine. Neither metrics nor log contain
text that a visitor typed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram, start_http_server

from viz_app.serving.scheduling.request_queue import Superseded

_SECONDS = (0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)
_log = logging.getLogger(__name__)

requests = Counter("headlight_requests", "Requests for the model, by kind and outcome.", ["kind", "outcome"])
seconds = Histogram("headlight_request_seconds", "Duration in seconds, by kind.", ["kind"], buckets=_SECONDS)
batch_sentences = Histogram(
    "headlight_batch_sentences", "Sentences of a batch decoded here.", buckets=(1, 2, 4, 8, 16, 32)
)
cache_lookups = Counter("headlight_cache_lookups", "Lookups: known, computed, or shared with another one.", ["result"])
sessions = Gauge("headlight_sessions", "Sessions that are connected.")
_waiting = Gauge("headlight_requests_waiting", "Requests waiting in the queue.")
_working = Gauge("headlight_requests_working", "Slots and batches in use.")


def connected_sessions() -> int:
    """Return the number of sessions that are connected."""
    (gauge,) = sessions.collect()
    return int(gauge.samples[0].value)


@contextmanager
def measured(kind: str) -> Iterator[None]:
    """Count a request for the model, time it and log it.

    Args:
        kind: `translation` or `computation`.
    """
    started, outcome = time.perf_counter(), "superseded"  # also when Streamlit ends the run, by no Exception
    try:
        yield
        outcome = "done"
    except Superseded:
        raise
    except Exception:
        outcome = "error"
        raise
    finally:
        taken = time.perf_counter() - started
        requests.labels(kind, outcome).inc()
        seconds.labels(kind).observe(taken)
        _log.info("request", extra={"kind": kind, "outcome": outcome, "seconds": round(taken, 4)})


@contextmanager
def metrics_server(port: int | None, waiting: Callable[[], float], working: Callable[[], float]) -> Iterator[None]:
    """Serve the metrics on a port of 127.0.0.1.

    Args:
        port: The port; None serves none.
        waiting: Returns the number of waiting requests, for each reading.
        working: Returns the number of working requests.

    Raises:
        OSError: The port is taken.
    """
    if port is None:
        yield
        return
    _waiting.set_function(waiting)
    _working.set_function(working)
    server, thread = start_http_server(port, addr="127.0.0.1")
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
