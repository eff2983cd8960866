"""translate: one line out for each line in."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.core.cli.workplace import ROOT, Call, Workplace
from transformer_core.translator import Translator


def translate(made: Workplace, data: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "transformer_core", "translate", "--checkpoint", str(made.checkpoint)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "OMP_NUM_THREADS": "1"}  # a console that knows no UTF-8
    return subprocess.run(
        [*command, "--beam", "1", "--batch", "4"],
        cwd=ROOT,
        input=data,
        capture_output=True,
        check=False,
        env=environment,
    )


def test_one_line_out_for_each_line_in_whatever_comes(made: Workplace) -> None:
    lines = [
        b"\xef\xbb\xbfThe man sees a house.",  # a byte order mark
        b"",
        b" \t  ",
        "Schöne Grüße \U0001f600\U0001f468\u200d\U0001f469".encode(),
        b"\x00a\x00",
        b"\xff\xfe\x80 not UTF-8",
        b"word " * 5_000,
        "\u202eשלום עולם مرحبا".encode(),
        b"</script><script>alert(1)</script>",
        b"carriage\rreturn\x0bform\x0cfeed",
        "a\u2028b\u2029c\u0085d".encode(),
        b"The man sees a house.\r",
        b"{0} %s $(ls) `ls` ../../etc",
        b"the last one has no line end",
    ]
    done = translate(made, b"\n".join(lines))
    err = done.stderr.decode("utf-8")
    assert done.returncode == 0, err
    out = done.stdout.decode("utf-8")
    assert out.endswith("\n")
    answers = out[:-1].split("\n")
    assert len(answers) == len(lines) == len(out.splitlines())
    assert answers[1] == answers[2] == answers[6] == ""
    assert answers[0] == answers[11] != ""
    assert "line 6: not valid UTF-8" in err
    assert "line 7: not translated: the source has " in err
    assert "line 4: not in the vocabulary, read as <unk>: '" in err and "\\u200d" in err
    assert "\u202e" not in err, "no character that turns a terminal's text round"
    assert len([line for line in err.splitlines() if "line " in line and "not in the vocabulary" not in line]) == 2
    assert "line 1:" not in err and "line 12:" not in err
    translator = Translator.load(made.checkpoint)
    assert answers[0] == translator.translate("The man sees a house.", beam=1).text


def test_no_input_gives_no_output(made: Workplace, call: Call) -> None:
    said = call("translate", "--checkpoint", made.checkpoint)
    assert (said.status, said.out) == (0, "")
