"""Logs: lines of JSON, and few stack traces for each visitor."""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from viz_app.serving.scheduling.rate_limit import RateLimit
from viz_app.serving.scheduling.request_queue import Visitor

LOG_SETTING = "HEADLIGHT_LOG"
TRACES_PER_MINUTE = 6  # of one address
TRACE_BURST = 20

_traces = RateLimit(TRACES_PER_MINUTE / 60, TRACE_BURST)
_PLAIN = vars(logging.makeLogRecord({})).keys() | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """Formatter of one object per line: time, level, logger, message, and the extra fields of a record.

    For an exception it has the type and the places in the code. The message may quote a visitor's text and is left out.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        fields |= {name: value for name, value in vars(record).items() if name not in _PLAIN}
        if record.exc_info and record.exc_info[0]:
            kind, _, places = record.exc_info
            fields["exception"] = kind.__name__
            fields["places"] = [f"{each.filename}:{each.lineno} {each.name}" for each in traceback.extract_tb(places)]
        return json.dumps(fields, ensure_ascii=False, default=str)


def use_log_setting() -> None:
    """Set the log format from HEADLIGHT_LOG: `json`, or the default of Python and Streamlit.

    Raises:
        ValueError: It says something else.
    """
    setting = os.environ.get(LOG_SETTING, "").strip()
    if setting not in ("", "json"):
        raise ValueError(f"{LOG_SETTING} is {setting!r}, but must be 'json' or empty")
    if not setting:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    for name in ("viz_app", "transformer_core"):
        logging.getLogger(name).setLevel(logging.INFO)
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            for each in logger.handlers:  # Streamlit has one for each of its loggers
                each.setFormatter(JsonFormatter())


def limit_traces(visitor: Callable[[], Visitor]) -> None:
    """Limit the errors of pages in the log: a message with a field of a wrong type costs 4 kB there.

    Args:
        visitor: Returns the visitor of the current run.
    """
    for name in ("streamlit.error_util", "viz_app.ui.error_boundary"):
        logging.getLogger(name).addFilter(lambda record: not record.exc_info or _traces.allows(visitor().address))
