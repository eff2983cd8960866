"""Streamlit app: pages, figures, lessons, browser components, and the model server behind them.

`show`, for notebooks, is imported when it is first used. With the package imported, results of
`transformer_core` show themselves in a notebook as a table and a figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_core import short_repr

if TYPE_CHECKING:
    from viz_app.notebook.embedded import show as show


def _mimebundle(result: object) -> dict[str, str]:
    from viz_app.notebook.display import mimebundle

    return mimebundle(result)


short_repr.notebook_view = _mimebundle


def __getattr__(name: str) -> Any:
    if name == "show":
        from viz_app.notebook.embedded import show

        return show
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
