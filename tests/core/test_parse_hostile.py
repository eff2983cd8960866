"""Lines that no treebank has: `parse` gives one line for each, a tree over exactly its words, or says why not."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest

from transformer_core.cli import main
from transformer_core.parsing.treebank import MAX_WORDS, parse_trees
from transformer_core.parsing.trees import escaped, unescaped

LINES = (
    b"",
    b"   \t ",
    b"\r",
    b"a",
    b".",
    b"( ) ( (",
    b")))) ((((",
    b"-LRB- -RRB- -LSB-",
    b"(S (NP XX )NP )S",
    b"(TOP (S (XX cat)))",
    b"XX XX XX",
    b"<s> </s> <pad> <unk>",
    b"\\ / \\/ \\* * \\\\",
    b"$ # @ & % ~ ^ | ` ' \"",
    b"`` '' ` '' ``",
    b"= + - -- ---",
    b"\x00 \x01 \x1b[31m \x7f",
    b"a\x0bb\x0cc \x1c \x1d",
    b"\xff\xfe \xc3\x28 \xed\xa0\x80",
    "\u200b \u200d \ufeff".encode(),
    "\u202e\u05e9\u05dc\u05d5\u05dd \u2066abc\u2069".encode(),
    "\u2028 \u2029 \x85 x".encode(),
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f600".encode(),
    "\u6771\u4eac \ud55c\uad6d\uc5b4 \u0e44\u0e17\u0e22 \u0939\u093f\u0928\u094d\u0926\u0940".encode(),
    ("Z" + "\u0301" * 500).encode(),
    "\u00a8 \u00bd \ufb01 \u2460 \u3000 \u00a0x".encode(),
    "\u2581 \u2581a a\u2581b".encode(),
    b"x" * 3_000,
    b"word " * 120,
    b"buffalo " * (MAX_WORDS + 1),
    b"y" * 1_000_001,
    b"{0} {} %s %(x)s ${HOME} $(id)",
    b"</script> &lt;b&gt; javascript:alert(1)",
)


def words_of(line: bytes) -> list[str]:
    """Those that a tree over the line has when it is read; brackets within a word stay as they are written, -LRB-."""
    words = line.decode("utf-8", errors="replace").split()
    return [unescaped(escaped(word)) for word in words]


@pytest.mark.parametrize("options", [[], ["--constrained", "true"]], ids=["free", "constrained"])
def test_one_line_for_each_line(
    parser_checkpoint: Path,
    options: list[str],
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert len(LINES) >= 30
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n".join(LINES) + b"\n")))
    assert main(["parse", "--checkpoint", str(parser_checkpoint), "--beam", "2", *options]) == 0
    *result, end = capsys.readouterr().out.split("\n")
    assert end == "" and len(result) == len(LINES)
    told = {int(match[1]): message for message in caplog.messages if (match := re.match(r"line (\d+): ", message))}
    for number, (line, out) in enumerate(zip(LINES, result, strict=True), start=1):
        words = words_of(line)
        if not out:
            assert not words or "not parsed" in told[number], line[:60]
            continue
        if len(words) > MAX_WORDS:  # more than a treebank may have: a flat tree
            assert out == f"(TOP {' '.join(f'(XX {word})' for word in words)})" and "not parsed" in told[number]
            continue
        (tree,) = parse_trees([out])
        assert list(tree.words) == words, line[:60]
    assert "not parsed" in told[LINES.index(b"y" * 1_000_001) + 1]
    assert "not parsed" in told[LINES.index(b"buffalo " * (MAX_WORDS + 1)) + 1]
