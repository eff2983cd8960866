"""The attention explorer: one browser component that shows every head of one translation.

The page packs a translation once and mounts the component:

    payload = pack(maps, steps=..., texts=t.table("explorer"), selection=selection)
    selection = explorer(payload, key="explorer")

Everything that the user does inside (kind, layer, head, step, tokens or words) is drawn in the browser, with no server.
Afterwards the selection is reported to Python, for the URL and for downloads.

The same maps make the same bytes, and bytes that are the same are not sent again. The selection in a payload is only
where a fresh component starts, so it need not follow the user. New bytes under the same key replace the
translation and leave the user's selection alone, unless they were packed with ``follow=True``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from transformer_core.axis import Axis
from transformer_core.head import Head, head_named
from viz_app.components import events
from viz_app.components.buffer import Constant, join_buffer, plain_axis
from viz_app.components.explorer.code import explorer_code
from viz_app.components.explorer.payload import join_payloads, with_selection
from viz_app.components.explorer.selection import MAX_COMPARED, Selection
from viz_app.components.modules import join_modules
from viz_app.components.registration import component

_FOLDER = Path(__file__).parent
_STATE = "selection"
_OFF = "off"
_SENTENCE = "sentence"
_TOOL = "tool"

# Streamlit sends the files of a component with its data, every time, unless the whole message is one that the browser
# knows already. So code and style, 150 kB, are a component of their own whose message never changes.
_bring_code = component("explorer_code", js=explorer_code)
_mount = component(
    "explorer", html='<div class="explorer"></div>\n', js=lambda: join_modules(_FOLDER / "js" / "mount.js")
)
_mount_draft = component("explorer_drafts", js=lambda: join_modules(_FOLDER / "js" / "mountdraft.js"))
_mount_finding = component("explorer_findings", js=lambda: join_modules(_FOLDER / "js" / "mountfinding.js"))


def explorer(
    payload: bytes,
    *,
    key: str,
    selection: Selection | None = None,
    other: bytes | None = None,
    off: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> Selection:
    """Show a packed translation and return what is selected in it.

    Args:
        payload: From `pack`.
        key: Identity of the component; under one key it keeps its selection when the translation changes.
        selection: Where a fresh component starts (also after a visit to another page), and what is selected as long as
            the browser has reported nothing. None: where the payload says, with `Selection()` until the first report.
        other: A second payload, that of the sentence or of the checkpoint which is compared with.
        off: The head that is switched off where a fresh component starts; only the selected one can be.
        on_change: Called before the rerun that a new selection causes.

    Returns:
        The selection as the browser reported it last. A report that makes no sense counts as none.
    """
    start = selection or Selection()
    # Bytes that stay the same are not sent again, so the start is fixed for as long as the component is on the page.
    start_key = f"{key}_start"
    if key not in st.session_state or start_key not in st.session_state:
        st.session_state[start_key] = (selection, off)
    first, first_off = st.session_state[start_key]
    if first is None or first_off != str(Head(first.kind, first.layer, first.head)):
        first_off = None
    if first is not None:
        payload = with_selection(payload, first, key=key, off=first_off)
    _bring_code(key=f"code-of-{key}", data={}, height="content")
    result: Any = _mount(
        key=key,
        data=payload if other is None else join_payloads(payload, other),
        default={_STATE: start.to_dict(), _OFF: first_off, _SENTENCE: None, _TOOL: None},
        on_selection_change=on_change or events.keep,
        on_off_change=events.keep,
        on_sentence_change=events.keep,
        on_tool_change=events.keep,
    )
    return Selection.from_state(result.get(_STATE), default=start)


def last_head_off(key: str) -> str | None:
    """Return the head that the browser has reported as switched off, such as `cross.6.8`; None for none."""
    head = head_off(key)
    return None if head is None else str(head)


def head_off(key: str) -> Head | None:
    """Return the head that is switched off; None for none. It need not exist in any model."""
    try:
        return head_named(str(events.last_report(key, _OFF)))
    except ValueError:
        return None


def asks_needed_head(key: str) -> bool:
    """Tell whether the browser asks for the head that the sentence needs most, to switch that off."""
    return events.last_report(key, _OFF) == "needed"


def asked_sentence(key: str) -> tuple[str, int] | None:
    """Return the example sentence that was pressed in the card of a head, and the number of the press; None for none.

    It is returned again until `sentence_shown`.
    """
    event = events.new_named_event(_presses(key), events.last_report(key, _SENTENCE))
    if event is None:
        return None
    text = event[0]
    # Half of a surrogate pair is not printable.
    return event if 0 < len(text) <= MAX_COMPARED and text.isprintable() else None


def sentence_shown(key: str, press: int) -> None:
    """Acknowledge the press at the end of a run that shows the sentence. A run that is replaced does not reach this."""
    events.answered(_presses(key), press)


def asked_tool(key: str) -> str | None:
    """Return the tool that was chosen in the menu since the last call, such as `share`; None for none."""
    event = events.new_named_event(f"{key}-tool", events.last_report(key, _TOOL))
    if event is None:
        return None
    events.answered(f"{key}-tool", event[1])
    return event[0]


def _presses(key: str) -> str:
    return f"{key}-sentence"


def send_finding(key: str, finding: Mapping[str, Any]) -> None:
    """Send the explorer what was found out after it was drawn: one name and plain values.

    The name is `flow`, `contrast`, `roles`, `card`, `off`, `needed` or `free`. The maps are not sent again for it.
    """
    ((name, value),) = finding.items()
    # As bytes: Streamlit would write plain values twice.
    data = _kept_finding(key, name, value) if isinstance(value, Constant) else join_buffer({name: value, "key": key})
    _mount_finding(key=f"code-of-{key}-{name}", data=data, height="content")


@lru_cache(maxsize=32)
def _kept_finding(key: str, name: str, value: Constant) -> bytes:
    return join_buffer({name: value, "key": key})


def send_draft(key: str, axes: Mapping[str, Axis], rows: bytes, number: int) -> None:
    """Send the explorer the best beginning of a translation so far; taking it off the page ends the drafts.

    Args:
        key: Of the explorer.
        axes: `source`, `inputs` and `outputs`.
        rows: Of `viz_app.serving.decoding.decoded_batch.DraftBytes`.
        number: Another one for each draft of a run.
    """
    header = {"key": key, "from": 0, "axes": {name: plain_axis(axis) for name, axis in axes.items()}}
    _mount_draft(key=f"code-of-{key}-draft-{number}", data=join_buffer(header, rows), height="content")


def last_report(key: str) -> Selection | None:
    """Return the last report of the browser before the component is mounted in this run; None without one."""
    start = Selection()
    selection = Selection.from_state(events.last_report(key, _STATE), default=start)
    return None if selection is start else selection
