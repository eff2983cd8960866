"""Bytes and tokens for the browser, read back."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz_app.components.buffer import ALIGNMENT, join_buffer, split_buffer
from viz_app.figures.model.figure import display_label

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.lists(st.binary(max_size=40), max_size=3))
def test_a_buffer_holds_its_header_and_its_parts(header: dict[str, Any], parts: list[bytes]) -> None:
    buffer = join_buffer(header, *parts)
    (length,) = struct.unpack_from("<I", buffer)
    assert (4 + length) % ALIGNMENT == 0
    assert json.loads(buffer[4 : 4 + length]) == header
    assert buffer[4 + length :] == b"".join(parts)
    read, data = split_buffer(buffer)
    assert read == header and bytes(data) == b"".join(parts)


def test_a_number_that_json_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        join_buffer({"value": float("nan")})


@pytest.mark.parametrize("before", [0, 1, 3], ids=lambda count: f"{count} bytes into a message")
def test_the_browser_reads_what_python_joins(javascript: Callable[[str], Any], before: int) -> None:
    """A message from the server may put the buffer anywhere."""
    header = {"text": "한국어 \u2581 \u2028 </script> \U0001f600", "numbers": [0, -1.5, 2**53], "none": None}
    data = bytes(range(256))
    message = b"\xff" * before + join_buffer(header, data[:100], data[100:]) + b"\xfe"
    result = javascript(f"""import {{ readBuffer }} from "./components/common/buffer.js";
    const message = Uint8Array.from({list(message)});
    const {{ header, data }} = readBuffer(message.subarray({before}, message.length - 1));
    console.log(JSON.stringify([header, Array.from(data), data.buffer === message.buffer]));""")
    assert result == [header, list(data), True]


CASES = ["\u2581Haus", "es", "\u2581", "\u2581\u2581", "a\u2581b", "</s>", ".", "\uac00", "|", "\u00b7"]


def test_both_languages_show_a_token_alike(javascript: Callable[[str], Any]) -> None:
    script = 'import { tokenText } from "./components/common/text/tokens.js";'
    result = javascript(f"{script}\nconsole.log(JSON.stringify({json.dumps(CASES)}.map((case_) => tokenText(case_))));")
    assert result == [display_label(case) for case in CASES]
