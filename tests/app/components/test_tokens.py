"""A token is shown the same by Python, in figures and files, and by JavaScript, on the page."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from viz_app.figures.model.figure import display_label

TOKENS = Path(__file__).parents[3] / "viz_app" / "components" / "common" / "text" / "tokens.js"
CASES = ["\u2581Haus", "es", "\u2581", "\u2581\u2581", "a\u2581b", "</s>", ".", "\uac00", "|", "\u00b7"]


def test_both_languages_show_a_token_alike(node: str) -> None:
    script = (
        f"import({str(TOKENS.as_uri())!r}).then((m) => "
        f"console.log(JSON.stringify({json.dumps(CASES)}.map(m.tokenText))))"
    )
    answer = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(answer.stdout) == [display_label(case) for case in CASES]
