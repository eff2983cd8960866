"""Files that a stranger made for `reproduce`: their commands are data, and nothing in them costs time or memory."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.abuse.target import within
from tests.abuse.test_figures import of_tokens
from transformer_core.cli import main
from transformer_core.cli.arguments import UsageError
from transformer_core.storage.bundled_models import SHIPPED
from transformer_core.storage.files import sha256
from transformer_core.storage.manifest import Manifest
from viz_app.cli import PROGRAM, reproduce
from viz_app.export.command import MAX_COMMAND
from viz_app.export.embedded_record import MAX_FILE_BYTES, MAX_RECORD_BYTES, read_record
from viz_app.figures import export

FORMATS = ("pdf", "svg", "png", "tex", "json", "csv", "npz")
GOOD = "python -m viz_app export --checkpoint=checkpoints/en-de --text=a --view=head --layer=1 --head=1"
BAD = {
    "a second command": f"{GOOD} --out=a.pdf; touch owned",
    "a pipe": f"{GOOD} | sh",
    "a line of its own": f"{GOOD}\ntouch owned",
    "a substitution": f"{GOOD} --target=$(touch owned)",
    "a variable": f"{GOOD} --target=$HOME",
    "an open quote": f"{GOOD} '--target=a",
    "another program": GOOD.replace("python -m viz_app", "sh -m viz_app"),
    "another module": GOOD.replace("viz_app", "transformer_core"),
    "another command": GOOD.replace("export", "app"),
    "a batch": f"{GOOD} --texts=/etc/passwd",
    "a table": f"{GOOD} --table=/etc/passwd",
    "a folder": f"{GOOD} --out=/etc/x.pdf",
    "a folder of Windows": f"{GOOD} '--out=..\\x.pdf'",
    "two models": f"{GOOD} --checkpoint=/etc",
    "an underscore": f"{GOOD} --other_checkpoint=/etc",
    "a shorter name": f"{GOOD} --other-check=/etc",
    "force": f"{GOOD} --force",
    "help": f"{GOOD} --help",
    "help with a value": f"{GOOD} --help=a",
    "traces": f"{GOOD} --debug",
    "a word": f"{GOOD} /etc/passwd",
    "the end of options": f"{GOOD} -- --force",
    "a file of arguments": f"{GOOD} @/etc/passwd",
    "thousands of options": GOOD + "".join(f" --a{'b' * n}=1" for n in range(400)),
    "thousands of equal options": GOOD + " --beam=4" * 9_000,
    "a long command": f"{GOOD} --target={'a' * MAX_COMMAND}",
    "a wide beam": f"{GOOD} --beam=17",
    "nothing": "",
    "a number": 7,
    "a model that no record names": f"{GOOD} --view=compare --other-checkpoint=/etc".replace(" --view=head", ""),
}


def write(folder: Path, format: str, command: object, **more: Any) -> Path:
    """A figure's file that holds a command of a stranger, and the right hash of a shipped model."""
    record = {"checkpoint_sha256": Manifest.read(SHIPPED / "en-de").weights_hash, "command": command, **more}
    figure = of_tokens("a", "b")
    object.__setattr__(figure, "provenance", record)
    path = folder / f"x.{format}"
    path.write_bytes(export(figure, format))
    if format == "csv":
        (folder / "x.csv.json").write_text(json.dumps(record), encoding="utf-8")
    return path


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in; to start a process or draw a figure fails."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("was reached")

    monkeypatch.chdir(tmp_path)
    for owner, name in ((subprocess, "Popen"), (os, "system"), (pickle, "loads"), (reproduce, "draw")):
        monkeypatch.setattr(owner, name, never)
    return tmp_path


@pytest.mark.parametrize("what", BAD)
def test_a_command_of_a_stranger_is_refused(what: str, alone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(alone, "pdf", BAD[what])
    assert main(["reproduce", str(path)], PROGRAM) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1 and len(said.err) < 1_000
    assert [each.name for each in alone.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "table", [{"name": "/etc/passwd", "sha256": sha256(Path("/etc/passwd"))}, {"sha256": [1]}, "a", 7]
)
def test_no_record_names_a_table_that_is_read(table: object, alone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, own = write(alone, "pdf", f"{GOOD} --table=/etc/passwd", table=table), alone / "own.csv"
    own.write_text("measure\n", encoding="utf-8")
    for given in ([], ["--table", str(own)]):
        assert main(["reproduce", str(path), *given], PROGRAM) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("format", FORMATS)
def test_each_format_hands_over_the_whole_command(format: str, alone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """None is read less strictly than another; control characters do not reach the terminal."""
    for command, more in (
        (BAD["a second command"], {}),
        (f"\x1b[2J {GOOD}", {}),
        (GOOD, {"checkpoint_sha256": "\x1b"}),
    ):
        path = write(alone, format, command, **more)
        assert (
            read_record((alone / "x.csv.json" if format == "csv" else path).read_bytes(), format)["command"] == command
        )
        assert main(["reproduce", str(path)], PROGRAM) == 2
        said = capsys.readouterr()
        assert "\x1b" not in said.err + said.out
        assert {each.name for each in alone.iterdir()} <= {path.name, "x.csv.json"}


@pytest.mark.parametrize("format", [*FORMATS, "gif"])
def test_a_huge_file_is_not_read(format: str, alone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = alone / f"x.{format}"
    with path.open("wb") as file:
        file.truncate(40 * MAX_FILE_BYTES)  # a hole, which takes no place on the disk
    with within(50):
        assert main(["reproduce", str(path)], PROGRAM) == 2
    assert f"at most {MAX_FILE_BYTES:,}" in capsys.readouterr().err


@pytest.mark.parametrize("format", FORMATS)
def test_a_huge_record_is_not_read(format: str, tmp_path: Path) -> None:
    path = write(tmp_path, format, "a" * (MAX_RECORD_BYTES + 1))
    with pytest.raises(UsageError):
        read_record((tmp_path / "x.csv.json" if format == "csv" else path).read_bytes(), format)


def test_pipes_and_devices_are_not_opened(alone: Path) -> None:
    os.mkfifo(alone / "x.pdf")
    (alone / "x.svg").symlink_to("/dev/zero")
    assert main(["reproduce", "x.pdf"], PROGRAM) == main(["reproduce", "x.svg"], PROGRAM) == 2


def archive(member: bytes, name: bytes = b"provenance.npy") -> bytes:
    """A zip whose first member has these bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name.decode(), member)
    return file.getvalue()


def array(header: str, body: bytes = b"") -> bytes:
    """A .npy file with any header."""
    text = header.encode() + b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text + body


def test_a_bomb_is_not_unpacked() -> None:
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    block = packer.compress(bytes(10**7)) + packer.flush(zlib.Z_FULL_FLUSH)  # which may be repeated
    bomb = 200 * block + packer.flush()  # 2 GB
    head = b"PK\3\4" + bytes(4) + (8).to_bytes(2, "little") + bytes(16) + (14).to_bytes(2, "little") + bytes(2)
    liar = archive(array("{'descr': '<U9', 'fortran_order': False, 'shape': ()}"))
    for data in (head + b"provenance.npy" + bomb, liar):
        with within(50), pytest.raises(UsageError):
            read_record(data, "npz")


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|O', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<U999999999', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<U0', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<U4', 'fortran_order': False, 'shape': (1000000000000,)}",
        "{'descr': [('a', '|O')], 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': ()}",
        "__import__('os').system('touch owned')",
        "(" * 9_000,
    ],
)
def test_an_array_that_lies_is_refused(header: str, alone: Path) -> None:
    with pytest.raises(UsageError):
        read_record(archive(array(header, pickle.dumps({"command": GOOD}) + bytes(100))), "npz")
    assert not list(alone.iterdir())


def test_a_pickle_is_not_loaded(alone: Path) -> None:
    class Touch:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (alone / "owned",)

    np.savez_compressed(alone / "x.npz", provenance=np.array(Touch(), dtype=object))
    assert main(["reproduce", "x.npz"], PROGRAM) == 2
    assert not (alone / "owned").exists()


@pytest.mark.parametrize(
    "keywords",
    [
        b"\xfe\xff\x00{\x00",  # half a character
        b"\xfe\xff\xd8\x00\x00{",  # half of a surrogate pair
        b"\xff\xfe{\x00}\x00",  # the other byte order
        b"\xef\xbb\xbf{}",
        b"{\xff}",
        b"{}) /Keywords (",
        b"\\",
        b"<7b7d>",
    ],
)
def test_keywords_that_lie_are_refused(keywords: bytes) -> None:
    with pytest.raises(UsageError):
        assert read_record(b"%PDF-1.4\n<< /Keywords (" + keywords + b") >>", "pdf") == {}
        raise UsageError("a record without a command")
