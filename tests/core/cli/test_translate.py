"""translate: one line out for each line in; n-best as JSON, files, and several processes that share one file."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.cli.workplace import ROOT, Call, Workplace, one_line_error
from tests.core.tiny import sentence_pairs
from tests.hostile import LINES
from transformer_core.cli.shards import Shard, merge_parts
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
    sentence = b"The man sees a house."
    first = [b"\xef\xbb\xbf" + sentence, sentence + b"\r", b"\xff\xfe\x80", b"word " * 5_000, "🙂\u200d".encode()]
    lines = [*first, *LINES, b"end"]
    done = translate(made, b"\n".join(lines))
    err = done.stderr.decode("utf-8")
    assert done.returncode == 0, err
    out = done.stdout.decode("utf-8")
    assert out.endswith("\n")
    answers = out[:-1].split("\n")
    assert len(answers) == len(lines) == len(out.splitlines())
    assert all(not answer or line.strip() for line, answer in zip(lines, answers, strict=True))
    assert answers[0] == answers[1] != answers[3] == ""
    assert "line 3: not valid UTF-8" in err and "line 4: not translated: the source has " in err
    assert "line 5: not in the vocabulary, read as <unk>: '" in err and "\\u200d" in err
    assert not set(err) & set("\u202e\x1b\x07"), "no character that steers a terminal"
    assert "line 1:" not in err and "line 2:" not in err
    translator = Translator.load(made.checkpoint)
    assert answers[0] == translator.translate("The man sees a house.", beam=1).text


def test_no_input_gives_no_output(made: Workplace, call: Call) -> None:
    said = call("translate", "--checkpoint", made.checkpoint)
    assert (said.status, said.out) == (0, "")


def test_nbest_writes_one_json_object_for_each_line(made: Workplace, call: Call) -> None:
    data = "The man sees a house.\n\nThe woman buys an old bicycle.\n" + "word " * 5_000
    said = call(
        *("translate", "--checkpoint", made.checkpoint, "--beam", "3", "--alpha", "0.5", "--nbest", "2"),
        stdin=data.encode(),
    )
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert [line["line"] for line in lines] == [1, 2, 3, 4]
    assert [line["source"] for line in lines] == data.split("\n")
    translator = Translator.load(made.checkpoint)
    for line in (lines[0], lines[2]):
        result = translator.translate(line["source"], beam=3, alpha=0.5).hypotheses[:2]
        assert [c["text"] for c in line["candidates"]] == [translator.tokenizer.decode(h.ids) for h in result]
        assert [c["finished"] for c in line["candidates"]] == [h.finished for h in result]
        for key in ("score", "log_probability"):
            values = [getattr(hypothesis, key) for hypothesis in result]
            assert [c[key] for c in line["candidates"]] == pytest.approx(values, abs=1e-4)
        assert line["problem"] == ""
    assert [candidate["text"] for candidate in lines[1]["candidates"]] == [""]
    assert lines[3]["candidates"] == []
    assert lines[3]["problem"].startswith("not translated: the source has ")


def test_the_length_penalty_is_chosen(made: Workplace, call: Call) -> None:
    common = ("translate", "--checkpoint", made.checkpoint, "--beam", "2", "--alpha", "0.7", "--nbest", "2")
    data = b"The man sees a house.\n"
    translator = Translator.load(made.checkpoint)
    for kind in ("gnmt", "power"):
        (line,) = call(*common, "--length-penalty", kind, stdin=data).out.splitlines()
        translator.decoding = translator.decoding.replace(length_penalty=kind)
        result = translator.translate("The man sees a house.", beam=2, alpha=0.7).hypotheses
        scores = [candidate["score"] for candidate in json.loads(line)["candidates"]]
        assert scores == pytest.approx([hypothesis.score for hypothesis in result])


def test_files_are_written_whole_and_never_replaced_unasked(made: Workplace, call: Call, tmp_path: Path) -> None:
    source, output = tmp_path / "en.txt", tmp_path / "de.txt"
    source.write_text("The man sees a house.\nA child buys a cup of tea.\n", encoding="utf-8")
    arguments = ["translate", "--checkpoint", made.checkpoint, "--beam", "1", "--input", source, "--output", output]
    assert call(*arguments).out == ""
    translator = Translator.load(made.checkpoint)
    expected = [translator.translate(line, beam=1).text for line in source.read_text(encoding="utf-8").splitlines()]
    assert output.read_text(encoding="utf-8").splitlines() == expected
    assert "--force" in one_line_error(call(*arguments))
    assert call(*arguments, "--force").status == 0
    assert sorted(tmp_path.iterdir()) == [output, source]
    assert call(*arguments[:-2]).out.splitlines() == expected


def test_several_processes_need_files(made: Workplace, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    assert "give --input FILE and --output FILE" in one_line_error(call("translate", "--checkpoint", made.checkpoint))
    monkeypatch.setenv("RANK", "2")
    assert "RANK must be from 0 to WORLD_SIZE - 1" in one_line_error(call("translate", "--checkpoint", made.checkpoint))


@given(st.integers(0, 40), st.integers(1, 5), st.integers(1, 4))
def test_shards_merge_in_order(tmp_path_factory: pytest.TempPathFactory, lines: int, size: int, of: int) -> None:
    output = tmp_path_factory.mktemp("weave") / "out.txt"
    given_lines = [f"{number} \x0b\u2028 x\n".encode() for number in range(lines)]
    for rank in range(of):
        shard = Shard(rank, of)
        mine = list(shard.chunks(given_lines, size))
        assert sum(len(portion) for _, portion in mine) == shard.line_count(lines, size)
        for first, portion in mine:
            assert portion == given_lines[first - 1 : first - 1 + size]
        shard.part(output).write_bytes(b"".join(line for _, portion in mine for line in portion if line))
    merge_parts(Shard(0, of), output, size)
    assert output.read_bytes() == b"".join(given_lines)
    assert list(output.parent.iterdir()) == [output]


@pytest.mark.process
def test_two_processes_answer_as_one(made: Workplace, call: Call, tmp_path: Path) -> None:
    source, output, alone = tmp_path / "en.txt", tmp_path / "de.txt", tmp_path / "alone.txt"
    lines = [line for line, _ in sentence_pairs()[:37]]
    lines[20] = "word " * 5_000
    source.write_text("\n".join(lines), encoding="utf-8")
    arguments = ["translate", "--checkpoint", made.checkpoint, "--beam", "1", "--batch", "1", "--input", source]
    assert call(*arguments, "--output", alone).status == 0
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "transformer_core", *map(str, arguments), "--output", str(output)]
    processes = [
        subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stderr=subprocess.PIPE,
        )
        for rank in range(2)
    ]
    errors = [process.communicate(timeout=120)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors
    assert output.read_bytes() == alone.read_bytes()
    # Portions of 16 lines: line 21 is in the second, which the second process has.
    assert "line 21: not translated" not in errors[0]
    assert "line 21: not translated" in errors[1]
    assert "16 lines: 0 empty, 1 not translated" in errors[1]
    assert sorted(tmp_path.iterdir()) == [alone, output, source]
