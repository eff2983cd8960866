"""--output and --force on what is no plain file: devices, pipes, links, private files and folders."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
from pathlib import Path

import pytest

from tests.abuse.samples import SMALL
from tests.core.conversion.marian_twins import marian_folder
from transformer_core.atlas.measure import Task, measure
from transformer_core.atlas.resumable_map import ResumableMap
from transformer_core.cli import main
from transformer_core.cli.arguments import Parser, UsageError, check_new_file, check_new_folder, output_path
from transformer_core.cli.shards import Shard, merge_parts
from transformer_core.storage import files
from transformer_core.storage.files import atomic_directory, recover_interrupted_writes
from transformer_core.storage.manifest import manifested_files
from transformer_core.translator import Translator
from viz_app.cli import PROGRAM
from viz_app.export.figure_arguments import add_targets, parse_targets
from viz_app.export.packing import Folder

if os.name != "posix":
    pytest.skip("needs pipes and modes", allow_module_level=True)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def translated(tmp_path: Path, output: Path, force: bool = True) -> int:
    (tmp_path / "in").write_text("\n")
    options = ["--checkpoint", str(SMALL / "base"), "--input", str(tmp_path / "in"), "--output", str(output)]
    return main(["translate", *options, *(["--force"] if force else [])])


def test_a_pipe_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "link.png").symlink_to(tmp_path / "pipe.png")
    for name in ("pipe.png", "link.png"):
        assert translated(tmp_path, tmp_path / name) == 2
        assert "is no regular file, and is never replaced; choose another file" in capsys.readouterr().err
        parser = Parser("export")
        add_targets(parser)
        with pytest.raises(UsageError, match="is no regular file"):
            parse_targets(parser.options(["--out", str(tmp_path / name), "--force"]))
        assert stat.S_ISFIFO((tmp_path / name).stat().st_mode)
    with pytest.raises(UsageError, match="is no regular file"):
        check_new_file("--out", output_path(os.devnull), force=True)


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_target_is_new(tmp_path: Path, exists: bool) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    if exists:
        target.write_text("old")
        target.chmod(0o600)
    assert translated(tmp_path, link, force=exists) == 0
    assert link.is_symlink()
    assert target.read_text() == "\n"
    if exists:
        assert mode(target) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "link", "target"]


def test_a_written_file_or_folder_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "file").touch(mode=0o600)
    files.atomic_write_text(tmp_path / "file", "new")
    assert ((tmp_path / "file").read_text(), mode(tmp_path / "file")) == ("new", 0o600)
    (tmp_path / "folder").mkdir(mode=0o700)
    with atomic_directory(tmp_path / "folder"):
        pass
    assert mode(tmp_path / "folder") == 0o700


def test_a_folder_that_is_a_link(tmp_path: Path) -> None:
    """A command writes where it leads to; `derived/` of a stranger's model leads nowhere."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.mkdir()
    (target / "kept").touch()
    link.symlink_to(target)
    parser = Parser("history")
    parser.add_output_folder("", "kind", lambda folder: {"kept"})
    assert parser.options(["--out", str(link), "--force"]).out == target
    with atomic_directory(link) as partial:
        (partial / "new").touch()
    assert not link.is_symlink()
    assert [path.name for path in link.iterdir()] == ["new"]
    assert [path.name for path in target.iterdir()] == ["kept"]
    (tmp_path / ".link.99999999.gone").symlink_to(target)  # of no process
    recover_interrupted_writes(tmp_path, "link")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]


def test_other_hidden_files_stay(tmp_path: Path) -> None:
    (tmp_path / ".model.mine.old").touch()
    recover_interrupted_writes(tmp_path, "model")
    assert [path.name for path in tmp_path.iterdir()] == [".model.mine.old"]


def test_merged_lines_are_on_the_disk_before_their_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: done.append("fsync"))
    monkeypatch.setattr(Path, "replace", lambda path, target: done.append("rename"))
    shard = Shard()
    shard.part(tmp_path / "out").write_text("a\n")
    merge_parts(shard, tmp_path / "out", 1)
    assert done == ["fsync", "rename"]


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*page\.html"):
        files.atomic_write_text(tmp_path / "page.html", "text")
    with pytest.raises(OSError, match=r"No space left.*site"), atomic_directory(tmp_path / "site") as folder:
        (folder / "page.html").touch()
    assert not [*tmp_path.iterdir()]


def test_the_next_run_removes_what_a_killed_one_left_of_a_file(tmp_path: Path) -> None:
    (tmp_path / ".page.html.99999999.partial").touch()  # of no process
    check_new_file("--out", tmp_path / "page.html", force=True)
    assert not [*tmp_path.iterdir()]


MODEL = SMALL / "base"
FOREIGN = {
    "site": ("service-worker.js", "const FILES = {};"),  # of any web application
    "docs": ("searchindex.js", "Search.setIndex({})"),  # of any Sphinx
    "convert": ("manifest.json", '{"manifest_version": 3}'),  # of a browser extension
    "export-model": ("headlight.json", '{"headlight": "1.0", "files": 3}'),
}
MINE = ("thesis.pdf", ".git/HEAD")


def arguments(command: str, out: Path) -> list[str]:
    options: dict[str, list[object]] = {
        "site": ["--checkpoint", MODEL],
        "docs": [],
        "convert": [MODEL],
        "export-model": ["--checkpoint", MODEL, "--to", "transformers"],
    }
    return [str(each) for each in (command, *options[command], "--out", out, "--force")]


def files_below(folder: Path) -> list[str]:
    return sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file())


@pytest.mark.parametrize("command", FOREIGN)
def test_force_replaces_no_folder_of_anyone_else(command: str, tmp_path: Path) -> None:
    out, (name, text) = tmp_path / "public", FOREIGN[command]
    for each in (name, *MINE):
        (out / each).parent.mkdir(parents=True, exist_ok=True)
        (out / each).write_text(text)
    program = [PROGRAM] if command in ("site", "docs") else []
    assert main(arguments(command, out), *program) == 2
    assert files_below(out) == sorted([name, *MINE])


@pytest.mark.parametrize("mine", MINE)
def test_force_replaces_no_folder_of_ours_with_a_file_of_anyone_else(
    mine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "exported"
    export = arguments("export-model", out)
    assert main(export) == main(export) == 0
    (out / mine).parent.mkdir(exist_ok=True)
    (out / mine).touch()
    capsys.readouterr()
    assert main(export) == 2
    assert f"has {mine}, which is not of this model" in capsys.readouterr().err
    copy = tmp_path / "copy"
    shutil.copytree(MODEL, copy)
    (copy / mine).parent.mkdir(exist_ok=True)
    (copy / mine).touch()
    listed = manifested_files(copy)
    assert (listed < {*files_below(copy)}, {*files_below(copy)} - listed) == (True, {mine})


def test_a_place_where_one_cannot_write_is_named_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != tmp_path)
    model = str(SMALL / "base")
    for command in (
        ["analyse", "attention", "--checkpoint", model, "--source", "A man.", "--out", str(tmp_path / "maps.npz")],
        ["convert", model, "--out", str(tmp_path / "new" / "ours")],
        ["prepare", "--train", __file__, "--vocab-size", "300", "--out", str(tmp_path / "data")],
    ):
        assert main(command) == 2
        assert f"{command[-1]} cannot be written: {tmp_path} is read-only for you" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_measurements_of_a_model_in_a_place_where_one_cannot_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Path(shutil.copytree(SMALL / "base", tmp_path / "model"))
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != model)
    (tmp_path / "test.tsv").write_text("A man.\tUn homme.\n", encoding="utf-8")
    arguments = ["--checkpoint", str(model), "--only", "scores", "--test", str(tmp_path / "test.tsv")]
    assert main(["derived", *arguments]) == 2
    assert (
        capsys.readouterr().err
        == f"error: --checkpoint: {model}/derived cannot be written: {model} is read-only for you\n"
    )


def test_an_error_of_the_system_names_the_file_and_no_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    out = tmp_path / "maps.npz"
    assert main(["analyse", "attention", "--checkpoint", str(SMALL / "base"), "--source", "A", "--out", str(out)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"error: {out}: No space left on device"


def test_the_next_run_removes_what_a_killed_one_left_of_a_folder(tmp_path: Path) -> None:
    for left in (".data.99999999.partial", ".other.99999999.partial"):
        (tmp_path / left).mkdir()
    check_new_folder(tmp_path / "data")
    assert [each.name for each in tmp_path.iterdir()] == [".other.99999999.partial"]


def test_nor_does_a_killed_atlas_leave_anything(tmp_path: Path) -> None:
    (tmp_path / ".atlas.json.99999999.partial").touch()
    translator = Translator.load(MODEL)
    runner = ResumableMap(checkpoint=MODEL, weights_hash=translator.checkpoint_hash, folder=tmp_path / "work")
    task = Task(runner=runner, translator=translator, out=tmp_path, sentences=tmp_path)
    measure(task, [])
    assert not [*tmp_path.iterdir()]


def test_nor_does_a_killed_set_of_figures(tmp_path: Path) -> None:
    """Only a folder of ours is cleaned."""
    for ours in (True, False):
        Folder(tmp_path).add("pdf/a.pdf", b"")
        for left in (".index.json.99999999.partial", "pdf/.a.pdf.99999999.partial"):
            (tmp_path / left).touch()
        (tmp_path / "index.json").write_text('{"program": "Headlight"}' if ours else "{}")
        Folder(tmp_path, force=True)
        assert len(files_below(tmp_path)) == (2 if ours else 4)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["translate", "--checkpoint", MODEL, "--input", "lines", "--beam", "1", "--output"], "out.txt"),
        (["convert", "theirs", "--out"], "ours"),
    ],
    ids=["translate", "convert"],
)
def test_a_disk_that_is_full_while_a_command_writes(
    command: list[object], name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place is named, though neither Python nor safetensors does it; nothing is left of it."""
    import resource

    marian_folder(tmp_path / "theirs")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "place").mkdir()
    (tmp_path / "lines").write_text("A man rides a bicycle.\n" * 100)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    capfd.readouterr()
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
        status = main([str(each) for each in (*command, tmp_path / "place" / name)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    error = os.strerror(errno.EFBIG)
    assert (status, capfd.readouterr().err.splitlines()[-1]) == (1, f"error: {tmp_path}/place/{name}: {error}")
    assert not [*(tmp_path / "place").iterdir()]


def test_an_error_names_no_hidden_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(name: object, *_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(name))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(OSError) as caught:
        files.atomic_write_text(tmp_path / "page.html", "text")
    assert caught.value.filename == str(tmp_path / "page.html")
