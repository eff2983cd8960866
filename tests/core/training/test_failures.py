"""What an update that failed leaves behind reads as text, whatever the vocabularies."""

from __future__ import annotations

import json
from pathlib import Path

from tests.core.tiny import SPECIAL, sentence_pairs
from transformer_core.data import make_batch
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.training.failures import save_failure


def test_each_side_is_written_with_its_own_vocabulary(tmp_path: Path) -> None:
    sources, targets = zip(*sentence_pairs(), strict=True)
    target = Tokenizer.train(targets, 140, threads=1)
    both = Tokenizer(target.model, Tokenizer.train(sources, 120, threads=1).model)
    ids = both.source.encode_batch(sources[:3]), both.encode_batch(targets[:3])
    folder = save_failure(tmp_path, [make_batch(*ids, SPECIAL)], [float("inf")], {"step": 7}, both, rank=1)
    assert sorted(path.name for path in folder.iterdir()) == ["batches-1.safetensors", "report-1.json"]
    report = json.loads((folder / "report-1.json").read_text(encoding="utf-8"))
    assert report == {
        "step": "7",
        "batches": [{"loss": "inf", "pairs": [list(pair) for pair in sentence_pairs()[:3]]}],
    }
