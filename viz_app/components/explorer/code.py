"""The explorer's JavaScript, with the style, the glossary and the library that it needs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from viz_app.components.modules import join_modules
from viz_app.components.styles import join_styles
from viz_app.text.glossary import definitions

_FOLDER = Path(__file__).parent
_D3 = _FOLDER / "vendor" / "d3-hierarchy-3.1.3.min.js"


def licences() -> dict[str, str]:
    """Return the text of each library's licence by name."""
    text = _D3.with_name("d3-hierarchy-3.1.3.LICENSE.txt").read_text(encoding="utf-8")
    return {"d3-hierarchy 3.1.3": text}


@cache
def explorer_code(entry: Path = _FOLDER / "js" / "main.js") -> str:
    """Return the code as one ES module with the default export of `entry`.

    That of main.js provides `explorer` to `mountWith` of handover.js.
    """
    library = _D3.read_text(encoding="utf-8")  # a library that finds `exports` puts there what it has
    return "\n".join(
        (
            f"const STYLE = {json.dumps(join_styles(_FOLDER / 'explorer.css', 'explained', 'tool', 'presenting'))};",
            f"const GLOSSARY = {json.dumps(definitions())};",
            f"const D3 = (() => {{ const exports = {{}}, module = {{ exports }};\n{library}\nreturn exports; }})();",
            join_modules(entry),
        )
    )
