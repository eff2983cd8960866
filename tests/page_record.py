"""The record in a page without Python."""

from __future__ import annotations

import html
import json
import re
from typing import Any


def page_record(page: bytes) -> dict[str, Any]:
    (text,) = re.findall(r'<meta name="provenance" content="([^"]*)">', page.decode("utf-8"))
    record: dict[str, Any] = json.loads(html.unescape(text))
    return record
