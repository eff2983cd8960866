"""Lines of any length: no command holds one as a whole, no tokenizer is asked about one that is far too long."""

from __future__ import annotations

import io
import lzma
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.abuse.samples import SMALL
from transformer_core.cli import main
from transformer_core.cli.arguments import UsageError
from transformer_core.cli.line_files import MAX_LINE_BYTES, TOO_LONG
from transformer_core.cli.training.history import read_probes
from transformer_core.data import DataError, read_pairs
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.translator import SourceTooLong, Translator
from viz_app.cli.sentence_lines import read_lines

CHECKPOINT = SMALL / "base"
LONG = b"a" * (MAX_LINE_BYTES + 1)


@pytest.fixture
def longest_text(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Characters of each text that a tokenizer is given."""
    seen: list[int] = []
    encode = Tokenizer.encode

    def noted(tokenizer: Tokenizer, text: str) -> Any:
        seen.append(len(text))
        return encode(tokenizer, text)

    monkeypatch.setattr(Tokenizer, "encode", noted)
    return seen


class Counted(io.BytesIO):
    """Input that knows the longest piece that was read."""

    longest = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        self.longest = max(self.longest, len(line))
        return line

    def __next__(self) -> bytes:
        if line := self.readline():
            return line
        raise StopIteration


def test_translate_gives_a_line_for_a_long_one(
    longest_text: list[int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    text = Counted(b"A man.\n" + LONG * 3 + b"\n" + LONG[:-1] + b"\nA man.\n")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=text, isatty=lambda: False))
    caplog.set_level("INFO")
    assert main(["translate", "--checkpoint", str(CHECKPOINT), "--beam", "1"]) == 0
    first, second, third, fourth = capsys.readouterr().out.splitlines()
    assert first == fourth != ""
    assert second == third == ""
    assert "line 2: not translated: it has more than 1,000,000 bytes" in caplog.text
    assert "line 3: not translated: the source has 1000000 characters, but at most" in caplog.text
    assert "0 empty, 2 not translated" in caplog.text
    assert text.longest <= MAX_LINE_BYTES + 1
    assert max(longest_text) < 100


def test_a_target_is_measured_first_too(longest_text: list[int]) -> None:
    with pytest.raises(SourceTooLong, match="characters"):
        Translator.load(CHECKPOINT).encode_target("a" * 1_000_000)
    assert max(longest_text, default=0) < 100


def test_export_names_a_long_line(tmp_path: Path) -> None:
    file = tmp_path / "texts"
    file.write_bytes(b"\xef\xbb\xbfA man.\r\n" + LONG + b"\n\nA dog.")
    lines = [(line.number, line.text, line.problem) for line in read_lines(file)]
    assert lines == [(1, "A man.", ""), (2, "", TOO_LONG), (3, "", "empty"), (4, "A dog.", "")]


def test_parallel_text_with_a_long_line_is_refused(tmp_path: Path) -> None:
    """Compressed it is a small file."""
    file = tmp_path / "test.tsv.xz"
    file.write_bytes(lzma.compress(b"A man.\tEin Mann.\n" + LONG * 20 + b"\n", preset=0))
    with pytest.raises(DataError, match="line 2: has more than 1,000,000 characters"):
        list(read_pairs(file))


def test_sentences_of_a_history_have_a_limit(tmp_path: Path) -> None:
    (tmp_path / "sentences").write_bytes(LONG)
    with pytest.raises(UsageError, match=r"--sentences: .* has more than 1,000,000 characters"):
        read_probes("--sentences", str(tmp_path / "sentences"))
