"""A front end as its operator sees it: health, metrics, logs; and what visitors do not see."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.server.visitor import visiting
from tests.app.serving.scheduling.test_request_queue import wait_until
from tests.browser.served import AppServer, free_port
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.serving.settings import METRICS_SETTING
from viz_app.serving.web import health as health_module
from viz_app.serving.web.health import LIVE, READY, Health
from viz_app.serving.web.log_format import LOG_SETTING, JsonFormatter, use_log_setting

SECONDS = 60.0
SENTENCE = "The dog reads a secret book."


def get(address: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, ""
    except OSError:
        return 0, ""


class Front:
    """A front end that runs, its metrics and its log."""

    def __init__(self, address: str, metrics: str, log: Path) -> None:
        self.address, self.metrics, self.log = address, metrics, log

    def values(self) -> dict[str, float]:
        """By name and labels."""
        families = text_string_to_metric_families(get(self.metrics)[1])
        return {
            " ".join((sample.name, *sample.labels.values())): sample.value
            for family in families
            for sample in family.samples
        }


@pytest.fixture(scope="module")
def front(random_checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    log, metrics = tmp_path_factory.mktemp("log") / "log", free_port()
    settings = {"HEADLIGHT_CHECKPOINT": str(random_checkpoint), "HEADLIGHT_WORKERS": "0"}
    server = AppServer(log, **settings, **{METRICS_SETTING: str(metrics), LOG_SETTING: "json"})
    wait_until(lambda: get(f"{server.address}{READY}")[0] == 200, SECONDS)
    yield Front(server.address, f"http://127.0.0.1:{metrics}/metrics", log)
    server.stop()


@pytest.mark.process
def test_requests_and_sessions_are_counted_and_nothing_typed_is_logged(front: Front) -> None:
    before = front.values()

    async def visit() -> None:
        async with visiting(front.address) as visitor:
            await visitor.open()
            await visitor.translate(SENTENCE)
            await visitor.press(SENTENCE)
            await asyncio.to_thread(wait_until, is_idle, SECONDS)

    after: dict[str, float] = {}

    def is_idle() -> bool:
        """Whether nothing waits or works; the server measures heads in the background for a moment after its start."""
        after.update(front.values())
        return after["headlight_requests_waiting"] == after["headlight_requests_working"] == 0

    asyncio.run(visit())
    assert get(f"{front.address}{LIVE}") == (200, "ok")
    for name in ("headlight_requests_total translation done", "headlight_batch_sentences_count"):
        assert after[name] > before.get(name, 0)
    assert after["headlight_sessions"] == 1
    assert after["headlight_cache_lookups_total known"] > 0
    lines = [json.loads(line) for line in front.log.read_text().splitlines() if line.startswith("{")]
    assert any(line["message"] == "request" and line["kind"] == "translation" for line in lines)
    assert "secret" not in front.log.read_text()


@pytest.mark.process
def test_visitors_see_no_metrics(front: Front) -> None:
    for path in ("/metrics", "/_stcore/metrics"):
        assert "headlight_requests" not in get(f"{front.address}{path}")[1]


@pytest.mark.parametrize(("tried", "can", "status"), [(False, True, 503), (True, False, 503), (True, True, 200)])
def test_a_front_end_is_ready_when_it_can_translate(
    tried: bool, can: bool, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def served() -> Any:
        asked.append(1)
        if not can:
            raise OSError("the model is damaged")
        return TranslationService(None, RequestQueue(1))  # type: ignore[arg-type]

    monkeypatch.setattr(health_module, "get_translation_service", served)
    health = Health()
    health.model_tried = tried

    async def ask() -> list[int]:
        return [(await health.ready(None)).status_code for _ in range(3)]  # type: ignore[arg-type]

    assert asyncio.run(ask()) == [status] * 3
    assert len(asked) == tried, "asked once a second at most"


def test_a_line_of_json_has_no_message_of_an_exception() -> None:
    try:
        raise ValueError(SENTENCE)
    except ValueError:
        record = logging.getLogger("x").makeRecord("x", 40, __file__, 1, "a %s failed", ("page",), sys.exc_info())
    record.kind = "translation"
    data = json.loads(JsonFormatter().format(record))
    assert (data["message"], data["exception"], data["kind"]) == ("a page failed", "ValueError", "translation")
    assert data["places"][0].endswith("test_a_line_of_json_has_no_message_of_an_exception")
    assert SENTENCE not in str(data)


def test_another_form_of_logs_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOG_SETTING, "xml")
    with pytest.raises(ValueError, match="HEADLIGHT_LOG is 'xml', but must be 'json' or empty"):
        use_log_setting()
