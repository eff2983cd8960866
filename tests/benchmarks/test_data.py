"""The benchmark of reading: a small corpus through the whole of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import data
from transformer_core.data import Corpus


def test_it_ends_with_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(data, "PAIRS_PER_SHARD", 400)
    data.write_corpus(tmp_path, 1000)
    assert len(Corpus(tmp_path)) == 1000
    monkeypatch.setattr(sys, "argv", ["data", "--folder", str(tmp_path), "--seconds", "1"])
    data.main()
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["pairs"] == 1000
    assert answer["batches"] == answer["batches_of_the_epoch"] > 0
    assert answer["target_tokens_per_second"] > 0
    assert answer["resident_peak_mb"] >= answer["resident_before_mb"] > 0
