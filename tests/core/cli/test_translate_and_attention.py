"""translate: one line out for each line in; attention: the exact weights with their labels."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.core.cli.workplace import ROOT, Call, Workplace, one_line_error
from tests.core.tiny import sentence_pairs
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
    assert err.count("line ") == 2
    translator = Translator.load(made.checkpoint)
    assert answers[0] == translator.translate("The man sees a house.", beam=1).text


def test_many_lines_stay_in_order(made: Workplace, call: Call) -> None:
    sources = [source for source, _ in sentence_pairs()[:40]]
    data = "".join(f"{source}\n" for source in sources).encode()
    said = call("translate", "--checkpoint", made.checkpoint, "--beam", "1", "--batch", "2", stdin=data)
    translator = Translator.load(made.checkpoint)
    expected = [translation.text for translation in translator.translate_batch(sources, beam=1)]
    assert said.out.splitlines() == expected


def test_no_input_gives_no_output(made: Workplace, call: Call) -> None:
    said = call("translate", "--checkpoint", made.checkpoint)
    assert (said.status, said.out) == (0, "")


def test_attention_writes_the_exact_weights_with_their_labels(made: Workplace, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "maps.npz"
    source = "The man sees a house 😀"
    assert call("attention", "--checkpoint", made.checkpoint, "--source", source, "--out", out).status == 0
    translator = Translator.load(made.checkpoint)
    expected = translator.translate(source)
    with np.load(out, allow_pickle=False) as archive:
        stored: dict[str, Any] = dict(archive)
    for kind in ("encoder", "decoder", "cross"):
        assert stored[kind].dtype == np.float32
        np.testing.assert_array_equal(stored[kind], getattr(expected.attention, kind))
        np.testing.assert_allclose(stored[kind].sum(axis=-1), 1.0, atol=1e-5)
    for name in ("source", "inputs", "outputs"):
        axis = getattr(expected.attention, name)
        assert tuple(stored[name].tolist()) == axis.tokens
        assert tuple(stored[f"{name}_words"].tolist()) == axis.words
    assert stored["scores"].tolist() == list(expected.scores)
    provenance = json.loads(str(stored["provenance"]))
    assert provenance["checkpoint_hash"] == translator.checkpoint_hash
    assert (provenance["source"], provenance["target"]) == (source, expected.text)
    assert provenance["target_given"] is False


def test_attention_of_a_given_translation(made: Workplace, call: Call, tmp_path: Path) -> None:
    source, target = sentence_pairs()[0]
    out = tmp_path / "maps.npz"
    arguments = ["attention", "--checkpoint", made.checkpoint, "--source", source, "--target", target, "--out", out]
    assert call(*arguments).status == 0
    expected = Translator.load(made.checkpoint).teacher_force(source, target)
    with np.load(out, allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["cross"], expected.attention.cross)
        assert archive["scores"].tolist() == list(expected.scores)
        assert archive["outputs"].tolist()[-1] == "</s>"
    assert "--force" in one_line_error(call(*arguments))
    assert call(*arguments, "--force").status == 0
    assert list(tmp_path.iterdir()) == [out]
