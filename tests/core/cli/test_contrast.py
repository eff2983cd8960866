"""contrast: a table and a line of JSON that agree with the scores of the model."""

from __future__ import annotations

import json
from pathlib import Path

from tests.core.cli.workplace import Call, Workplace, one_line_error
from transformer_core.translator import Translator


def test_contrast(made: Workplace, call: Call, tmp_path: Path) -> None:
    pairs = [("A dog.", "Ein Hund.", "Eine Hund."), ("Two.", "Zwei.", "Zwei zwei."), ("A cat.", "Katze", "Eine Katze.")]
    file = tmp_path / "pairs.tsv"
    rows = ["\t".join(("articles" if number else "all else", *texts)) for number, texts in enumerate(pairs)]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    said = call("analyse", "contrast", "--checkpoint", made.checkpoint, "--test", file)
    assert said.status == 0, said.err
    *table, last = said.out.splitlines()
    summary = json.loads(last)
    translator = Translator.load(made.checkpoint)
    scores = [translator.score([(source, right), (source, wrong)]) for source, right, wrong in pairs]
    right = [first > second for first, second in scores]
    assert summary["right"] == round(sum(right) / 3, 4)
    assert summary["groups"]["articles"] == {"right": round(sum(right[1:]) / 2, 4), "asked": 2}
    assert [line.split()[0] for line in table] == ["phenomenon", "all", "articles", "all"]


def test_a_file_without_questions(made: Workplace, call: Call, tmp_path: Path) -> None:
    file = tmp_path / "none.tsv"
    file.write_text("", encoding="utf-8")
    error = one_line_error(call("analyse", "contrast", "--checkpoint", made.checkpoint, "--test", file), 1)
    assert "has no questions" in error
