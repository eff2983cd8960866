"""Joining JavaScript modules into the one text that Streamlit takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from viz_app.components.modules import join_modules

MAIN = """import { a } from "./a.js";
import { b } from "./shared/b.js";
export default function main() {
  return a() + b;
}
"""


def write(folder: Path, **modules: str) -> Path:
    """Writes modules and returns the path of `main`."""
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder / "main.js"


def test_the_joined_text_runs_like_the_modules(node: str, tmp_path: Path) -> None:
    """Each comes once, before those that need it, from whatever folder."""
    (tmp_path / "shared").mkdir()
    write(tmp_path / "shared", b="const hidden = 20;\nexport const b = hidden;\nexport const unused = 1;\n")
    reads = 'import { b } from "./shared/b.js";\nconst hidden = 2;\nexport function a() {\n  return b + hidden;\n}\n'
    entry = write(tmp_path, main=MAIN, a=reads)
    joined = tmp_path / "joined.mjs"
    joined.write_text(join_modules(entry), encoding="utf-8")
    assert "import" not in joined.read_text(encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    for target in (joined, entry):
        script = f"import({str(target.as_uri())!r}).then((m) => console.log(m.default()))"
        answer = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True, timeout=60)
        assert answer.stdout.strip() == "42"


@pytest.mark.parametrize(
    ("main", "message"),
    [
        ('import { a } from "./circle.js";', "circle: main -> circle -> back -> circle"),
        ('import { b } from "./a.js";\nimport { c } from "./other/a.js";', r"two JavaScript modules are called a\.js"),
        ("const text = `a\n  b`;", r"main\.js: text over several lines"),
        ('import * as a from "./a.js";', "cannot be joined"),
        ('import a from "./a.js";', "cannot be joined"),
        ('export { x } from "./a.js";', "cannot be joined"),
        ("export let x = 1;", "cannot be joined"),
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path: Path, main: str, message: str) -> None:
    (tmp_path / "other").mkdir()
    write(tmp_path / "other", a="export const c = 1;\n")
    circle = 'import { b } from "./back.js";\nexport const a = 1;\n'
    back = 'import { a } from "./circle.js";\nexport const b = 1;\n'
    entry = write(
        tmp_path,
        main=f"{main}\nexport default function main() {{}}\n",
        a="export const b = 1;\n",
        circle=circle,
        back=back,
    )
    with pytest.raises(ValueError, match=message):
        join_modules(entry)


def test_comments_and_indentation_stay_behind(tmp_path: Path) -> None:
    text = """// First.

/**
 * What it does.
 *   export const never = 1;
 */
export default function main() {
  // Why.
  const url = "http://x/*y*/"; // beside code

    return `a //b` + url;
}
"""
    expected = """export default function main() {
const url = "http://x/*y*/"; // beside code
return `a //b` + url;
}
"""
    assert join_modules(write(tmp_path, main=text)) == expected
