"""The log of a server whose visitors send what no page sends: few stack traces of each."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit import config, error_util

from viz_app.serving.scheduling.rate_limit import RateLimit
from viz_app.serving.scheduling.request_queue import Visitor
from viz_app.serving.web import log_format
from viz_app.text import texts
from viz_app.ui.error_boundary import error_boundary

CONFIG = Path(__file__).resolve().parents[2] / "viz_app" / ".streamlit" / "config.toml"


def fail_outside() -> None:
    error_util._log_uncaught_app_exception(TypeError("object of type 'bool' has no len()"))


def fail_inside() -> None:
    with error_boundary(texts("en")):
        raise TypeError("object of type 'bool' has no len()")


@pytest.mark.parametrize("fail", [fail_outside, fail_inside])
def test_an_address_has_few_stack_traces_written(fail: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    monkeypatch.setattr(log_format, "_traces", RateLimit(1e-9, 3))
    monkeypatch.setattr(config, "get_option", lambda _: False)
    for name in ("streamlit.error_util", "viz_app.ui.error_boundary"):
        monkeypatch.setattr(logging.getLogger(name), "handlers", [handler])
        monkeypatch.setattr(logging.getLogger(name), "filters", [])
    addresses = ["192.0.2.1", "192.0.2.2"]
    log_format.limit_traces(lambda: Visitor(addresses[-1]))
    while addresses:
        for _ in range(50):
            fail()
        addresses.pop()
    assert len(lines) == 2 * 3


def test_all_of_them_go_through_the_log() -> None:
    assert tomllib.loads(CONFIG.read_text(encoding="utf-8"))["logger"] == {"enableRich": False}
