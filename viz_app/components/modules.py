"""Joining of a component's JavaScript modules into the one text that Streamlit takes.

Streamlit serves separate script files only for components of an installed package, and this app runs from a checkout.
So the modules are joined when a page mounts the component first, without a build step or files on disk.

Every module is a real ES module, within these forms:

* ``import { name, other } from "./file.js";`` (or ``"../folder/file.js"``) on lines of its own, at the start of a line;
* no two modules of one component have the same file name;
* ``export function``, ``export function*``, ``export class``, ``export const`` at the start of a line;
* ``export default function`` in the entry module only;
* no text in back quotes over several lines.

Streamlit sends this text with all new data of a component, so comments and indentation are dropped.
"""

from __future__ import annotations

import re
from pathlib import Path

_IMPORT = re.compile(r'^import \{([^}]*)\} from "((?:\./|(?:\.\./)+)(?:\w+/)*(\w+)\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default function (\w+)", re.MULTILINE)
_OTHER = re.compile(r"^(?:import\b|export\b(?! default function\b)).*$", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*(?:(?!\*/).)*\*/[ \t]*)$", re.MULTILINE | re.DOTALL)
_SPACE = re.compile(r"\n[ \t\n]+")


def join_modules(entry: Path, text: str | None = None) -> str:
    """Return the entry module and all that it imports, each once, after its own imports.

    Args:
        entry: Module with the default export.
        text: Source of an entry module that is no file; `entry` is where it would lie.

    Returns:
        One ES module without imports.

    Raises:
        ValueError: A module has another form of import or export, two modules have one name, or imports form a circle.
    """
    texts: dict[Path, str] = {}
    _visit(entry.resolve(), texts, (), text)
    names = [path.stem for path in texts]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two JavaScript modules are called {twice[0]}.js, so they cannot be joined")
    return "\n".join(texts.values())


def self_starting(code: str) -> str:
    """Return a joined module that calls its default export, for a page without Streamlit."""
    return f"{code}\n{_DEFAULT.findall(code)[-1]}();"


def _visit(path: Path, texts: dict[Path, str], above: tuple[Path, ...], text: str | None = None) -> None:
    """Add a module after its imports."""
    name = path.stem
    if path in above:
        circle = " -> ".join(module.stem for module in (*above, path))
        raise ValueError(f"JavaScript modules import each other in a circle: {circle}")
    if path in texts:
        return
    source = path.read_text(encoding="utf-8") if text is None else text
    if odd_line := next((line for line in source.splitlines() if line.count("`") % 2), None):
        raise ValueError(f"{path.name}: text over several lines cannot be joined: {odd_line.strip()}")
    source = _SPACE.sub("\n", _COMMENT.sub("", source)).lstrip()
    for match in _IMPORT.finditer(source):
        _visit((path.parent / match[2]).resolve(), texts, (*above, path))
    body = _IMPORT.sub(lambda match: f"const {{{match[1]}}} = module_{match[3]};", source)
    names = _EXPORT.findall(body)
    body = _EXPORT.sub("", body)
    if odd := _OTHER.search(body):
        raise ValueError(f"{path.name}: this form of import or export cannot be joined: {odd[0]}")
    if above:
        body = f"const module_{name} = (() => {{\n{body}\nreturn {{ {', '.join(names)} }};\n}})();"
    texts[path] = body
