"""The type of the selection in JavaScript is that of Python."""

from __future__ import annotations

import re
import types
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from transformer_core.attention_maps import Kind
from viz_app.components.explorer import Selection
from viz_app.figures.option import declared

TYPES = Path(__file__).resolve().parents[3] / "viz_app" / "types.d.ts"
PLAIN = {str: "string", int: "number", bool: "boolean", types.NoneType: "null"}


def typescript(hint: Any) -> str:
    if hint == Kind:
        return "Kind"
    if hint in PLAIN:
        return PLAIN[hint]
    if get_origin(hint) is Literal:
        return " | ".join(f'"{choice}"' for choice in get_args(hint))
    if get_origin(hint) is Annotated:
        return typescript(get_args(hint)[0])
    return " | ".join(map(typescript, get_args(hint)))


def test_types_d_ts_has_the_fields_of_the_selection_with_their_choices() -> None:
    found = re.search(r"type ExplorerSelection = \{\n(.*?)\};", TYPES.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    hints = get_type_hints(Selection, include_extras=True)
    expected = [f"  {name}: {typescript(hints[name])};" for name in declared(Selection)]
    assert found[1].splitlines() == expected, "put these lines there:\n" + "\n".join(expected)
