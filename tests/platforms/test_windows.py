"""Commands as on Windows, whose Korean console has cp949; and names and lines of files that any system can have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.platforms.windows import REPLACED, no_name
from transformer_core.storage import files
from transformer_core.storage.files import atomic_write_text
from viz_app.cli import HEADLIGHT
from viz_app.serving.decoding import worker_processes
from viz_app.serving.decoding.decoded_batch import DraftBytes

ROOT = Path(__file__).resolve().parents[2]
if not Path("/proc/self/fd").is_dir():
    pytest.skip("needs the list of open files", allow_module_level=True)


def run(module: str, text: str) -> subprocess.CompletedProcess[str]:
    console = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp949", "PYTHONWARNDEFAULTENCODING": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *(["-c", module] if "\n" in module else ["-m", module])]
    environment = {**os.environ, **console}
    return subprocess.run(
        command, cwd=ROOT, input=text, capture_output=True, encoding="utf-8", env=environment, timeout=300, check=False
    )


REFUSED = """
import os, tempfile
from tests.platforms.windows import imitate
from transformer_core.storage.files import replace_file
imitate()
os.chdir(tempfile.mkdtemp())
def refuses(error, call, *arguments):
    try:
        call(*arguments)
    except error:
        return
    raise SystemExit(f"{call} {arguments}")
os.makedirs("x" * 150)
for name in ("aux.txt", "Con", "a:b", "a.", "a ", f"{'x' * 150}/{'y' * 150}"):
    refuses(OSError, open, name, "w")
open("a", "w").close()
refuses(AssertionError, open, "A", "w")
refuses(OSError, os.symlink, "a", "b")
with open("a"):
    refuses(PermissionError, os.replace, "a", "b")
    refuses(PermissionError, os.remove, "a")
    refuses(PermissionError, os.rename, os.getcwd(), f"{os.getcwd()}-2")
os.replace("a", "b")
import multiprocessing
refuses(ValueError, multiprocessing.get_context, "fork")
assert multiprocessing.get_start_method() == "spawn"
from transformer_core.storage import files, temporary_folders
assert files.os.name == "nt" and not hasattr(temporary_folders.os, "getuid")
"""


def test_what_is_imitated() -> None:
    done = run(REFUSED, "")
    assert done.returncode == 0, done.stderr


def test_commands(random_checkpoint: Path, tmp_path: Path) -> None:
    """Twice, so that files are replaced. Output is in UTF-8 with plain line ends, and no file is opened without one."""
    model, sentences = ["--checkpoint", str(random_checkpoint), "--force"], tmp_path / "문장.txt"
    sentences.write_bytes("\ufeffThe little dog.\r\nDer Straßenbahnfahrer läuft.\r\n".encode())
    pairs = tmp_path / "쌍.tsv"
    pairs.write_bytes("A man rides.\tEin Mann reitet.\r\nA dog runs.\tEin Hund läuft.\r\n".encode())
    lines = [
        [
            "export",
            *model,
            "--view",
            "head",
            "--layer=1",
            "--head=1",
            "--text=A dog.",
            f"--out={tmp_path / '머리.pdf'}",
        ],
        ["page", *model, "--live", f"--out={tmp_path / 'page.html'}"],
        ["translate", *model, "--input", str(sentences), f"--output={tmp_path / 'out.txt'}"],
        ["analyse", "effects", *model, "--source=A dog.", f"--out={tmp_path / 'effects.csv'}"],
        ["export-model", *model, "--to", "transformers", f"--out={tmp_path / 'export'}"],
    ]
    atlas = ["atlas", *model[:2], f"--sentences={pairs}", "--parts=looks", "--workers=2", f"--out={tmp_path / 'atlas'}"]
    helps = [[*name.split(), "--help"] for name in HEADLIGHT.commands]
    done = run("tests.platforms.commands", "\n".join(json.dumps(line) for line in [*helps, *lines, atlas, *lines]))
    assert done.returncode == 0, done.stderr
    assert "\u201cdo\u201d" in done.stderr and "\r" not in done.stdout + done.stderr
    written = {path.name for path in tmp_path.iterdir()} - {sentences.name, pairs.name}
    assert written == {Path(line[-1].partition("=")[2]).name for line in [*lines, atlas]}
    assert (tmp_path / "out.txt").read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("times", [0, 2, 4, 5])
def test_a_scanned_file_is_replaced_when_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """A virus scanner opens what is new, for a moment."""
    busy, pauses, replace = [times], list[float](), os.replace

    def refused(old: Path, new: Path) -> None:
        busy[0] -= 1
        if busy[0] >= 0:
            raise PermissionError(13, "Permission denied", str(new))
        replace(old, new)

    monkeypatch.setattr(files, "os", REPLACED["os"])
    monkeypatch.setattr(Path, "replace", refused)
    monkeypatch.setattr(files, "time", SimpleNamespace(sleep=pauses.append))
    (tmp_path / "file").write_text("old", encoding="utf-8")
    with pytest.raises(PermissionError) if times == 5 else nullcontext():
        atomic_write_text(tmp_path / "file", "new")
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        ("file", "old" if times == 5 else "new")
    ]
    assert len(pauses) == min(times, 4) and sum(pauses) < 2


def test_a_draft_is_lost_while_both_processes_rename_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(old: str, new: str) -> None:
        raise PermissionError(13, "Permission denied", new)

    flags, draft = worker_processes._Flags.new(), DraftBytes((), False, b"")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refused)
        flags.give_draft(0, draft)
        assert flags.take_draft(0) is None
    flags.give_draft(0, draft)
    assert flags.take_draft(0) == draft
    flags.remove()
    assert not Path(flags.path).exists()


def test_a_killed_server_leaves_its_flags_to_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = tmp_path / "headlight-workers-99999999-x"  # of no process
    dead.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    worker_processes._Flags.new().remove()
    assert not [*tmp_path.iterdir()]


def test_every_disk_can_have_the_files() -> None:
    """Those of the repository, below a folder with a long name."""
    folders = [ROOT / "checkpoints", ROOT / "transformer_core", ROOT / "viz_app"]
    paths = [path.relative_to(ROOT).as_posix() for each in folders for path in each.rglob("*")]
    assert not [path for path in paths if any(map(no_name, path.split("/")))]
    assert len({path.lower() for path in paths}) == len(paths)
    assert max(map(len, paths)) < 120
