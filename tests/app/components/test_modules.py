"""Joining JavaScript modules into the one text that Streamlit takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from viz_app.components.modules import join_modules

MAIN = """import { a } from "./a.js";
import { b } from "./b.js";
export default function main() {
  return a() + b;
}
"""


def write(folder: Path, **modules: str) -> Path:
    """Writes modules and returns the path of `main`."""
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder / "main.js"


def test_each_module_comes_once_before_those_that_need_it(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        main=MAIN,
        a='import { b } from "./b.js";\nexport function a() {\n  return b;\n}\n',
        b="export const b = 20;\nexport const unused = 1;\n",
    )
    joined = join_modules(entry)
    assert joined.count("const module_b =") == 1
    assert joined.index("module_b =") < joined.index("module_a =") < joined.index("export default")
    assert "import" not in joined


def test_the_joined_text_runs_like_the_modules(node: str, tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        main=MAIN,
        a='import { b } from "./b.js";\nconst hidden = 2;\nexport function a() {\n  return b + hidden;\n}\n',
        b="const hidden = 20;\nexport const b = hidden;\n",
    )
    results = []
    for text in (join_modules(entry), None):
        target = entry if text is None else tmp_path / "joined.mjs"
        if text is not None:
            target.write_text(text, encoding="utf-8")
        else:
            (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        script = f"import({str(target.as_uri())!r}).then((m) => console.log(m.default()))"
        answer = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True, timeout=60)
        results.append(answer.stdout.strip())
    assert results == ["42", "42"]


def test_a_circle_is_refused(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        main='import { a } from "./a.js";\nexport default function main() {}\n',
        a='import { b } from "./b.js";\nexport const a = 1;\n',
        b='import { a } from "./a.js";\nexport const b = 1;\n',
    )
    with pytest.raises(ValueError, match="circle: main -> a -> b -> a"):
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


def test_text_over_several_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"main\.js: text over several lines"):
        join_modules(write(tmp_path, main="export default function main() {\n  return `a\n  b`;\n}\n"))


@pytest.mark.parametrize(
    "line",
    ['import * as a from "./a.js";', 'import a from "./a.js";', 'export { x } from "./a.js";', "export let x = 1;"],
)
def test_a_form_that_cannot_be_joined_is_refused(tmp_path: Path, line: str) -> None:
    entry = write(tmp_path, main=f"{line}\nexport default function main() {{}}\n", a="export const a = 1;\n")
    with pytest.raises(ValueError, match="cannot be joined"):
        join_modules(entry)


def test_modules_of_other_folders_are_joined(tmp_path: Path) -> None:
    for folder in ("common", "part"):
        (tmp_path / folder).mkdir()
    write(tmp_path / "common", shared="export const a = () => 1;\n")
    entry = write(
        tmp_path / "part",
        main='import { a } from "../common/shared.js";\nexport default function main() {\n  return a();\n}\n',
    )
    assert "const { a } = module_shared;" in join_modules(entry)


def test_two_modules_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    write(tmp_path / "other", a="export const c = 1;\n")
    entry = write(
        tmp_path,
        main='import { b } from "./a.js";\nimport { c } from "./other/a.js";\nexport default function main() {}\n',
        a="export const b = 1;\n",
    )
    with pytest.raises(ValueError, match=r"two JavaScript modules are called a\.js"):
        join_modules(entry)
