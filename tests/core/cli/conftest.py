"""Fixtures for the command line: a way to call it, and one pass through prepare, train and average."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.core.cli.workplace import TRAIN, Call, Said, Workplace
from tests.core.tiny import sentence_pairs
from transformer_core.cli import main


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run a command in this process."""

    def run(*arguments: str | Path, stdin: bytes = b"") -> Said:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        return Said(status, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """One pass through prepare, train and average."""
    folder = tmp_path_factory.mktemp("cli")
    place = Workplace(*(folder / name for name in ("pairs.tsv", "valid.tsv", "data", "run", "checkpoint")))
    lines = [f"{source}\t{target}\n" for source, target in sentence_pairs()]
    place.pairs.write_text("".join(lines), encoding="utf-8")
    place.valid.write_text("".join(lines[::40]), encoding="utf-8")
    prepare = ["prepare", "--train", place.pairs, "--vocab-size", "160", "--typo-rate", "0.1", "--out", place.data]
    train = ["train", *TRAIN, "--data", place.data, "--valid", place.valid, "--out", place.run]
    average = ["average", place.run, "--last", "2", "--out", place.checkpoint]
    for command in (prepare, train, average):
        assert main([str(argument) for argument in command]) == 0
    return place
