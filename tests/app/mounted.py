"""Data that the app hands to its browser components in Streamlit's test runner."""

from __future__ import annotations

import json
import struct
from typing import Any

from streamlit.testing.v1 import AppTest

from viz_app.components.buffer import split_buffer


def mounted(app: AppTest) -> dict[str, Any]:
    """The data of every component on the page, by name: plain values, or bytes."""
    values: dict[str, Any] = {}
    for block in app.get("bidi_component"):
        proto = block.proto
        kind = proto.WhichOneof("data")
        if kind is not None:  # a component may be code alone
            data = json.loads(proto.json) if kind == "json" else getattr(proto, kind)
            if proto.component_name == "headlight_explorer_findings":
                data, _ = split_buffer(data)
            before = values.get(proto.component_name)
            if before is not None:  # findings come one by one, each by a name of its own
                assert isinstance(data, dict) and isinstance(before, dict) and before.keys() & data.keys() <= {"key"}
                data = before | data
            values[proto.component_name] = data
    return values


def visible(app: AppTest) -> str:
    """All words on the page."""
    parts = [*app.markdown, *app.caption, *app.title, *app.header, *app.subheader]
    parts += [*app.warning, *app.info, *app.error, *app.code]
    return "\n".join(str(part.value) for part in parts)


def opened(app: AppTest, page: str = "translate", **params: str) -> AppTest:
    """A page by its own address, with these parameters."""
    app.query_params.update(params)
    return app.switch_page(f"app_pages/{page}.py").run()


def address(app: AppTest) -> dict[str, str | None]:
    """The parameters that the page shows in the address; None for one that is not to stand there."""
    params: dict[str, str | None] = mounted(app)["headlight_address"]["params"]
    return params


def headers(app: AppTest) -> list[dict[str, Any]]:
    """The header of each payload that the explorer has: of what is shown, and of what it is compared with."""
    buffer = mounted(app)["headlight_explorer"]
    mark, length = struct.unpack("<II", buffer[:8])
    parts = [buffer] if mark else [buffer[8 : 8 + length], buffer[8 + length :]]
    return [split_buffer(part)[0] for part in parts]


def header(app: AppTest) -> dict[str, Any]:
    """The header of the only payload that the explorer has."""
    (result,) = headers(app)
    return result
