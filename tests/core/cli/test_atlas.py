"""atlas: the same bytes however it was computed, going on after it was killed, and files that cannot be trusted."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from tests.core.cli.workplace import ROOT, Call, Workplace, one_line_error
from transformer_core.analysis.circuit.task import FOLDER, shipped_tasks
from transformer_core.atlas.examples import probe_sentences
from transformer_core.atlas.measure import PARTS, Task
from transformer_core.atlas.naming import head_roles
from transformer_core.atlas.record import Atlas
from transformer_core.atlas.storage import load_atlas, shipped_atlas
from transformer_core.checkpoint import load_checkpoint
from transformer_core.cli import main
from transformer_core.evaluation.metrics import paired_bootstrap
from transformer_core.storage.files import CheckpointError

TREES = "".join(
    f"1\t{subject}\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tsees\t_\t_\t_\t_\t0\troot\t_\t_\n3\tbooks\t_\t_\t_\t_\t2\tobj\t_\t_\n\n"
    for subject in ("man", "woman", "child") * 20
)


@pytest.fixture(scope="module")
def given(made: Workplace, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("given")
    (folder / "trees.conllu").write_text(TREES, encoding="utf-8")
    (folder / "gold.tsv").write_text("the man\tder Mann\t0-0 1-1\n" * 3, encoding="utf-8")
    lines = made.pairs.read_text(encoding="utf-8").splitlines(keepends=True)[::9]
    (folder / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    return [
        "atlas", "--checkpoint", str(made.checkpoint), "--sentences", str(folder / "pairs.tsv"),
        "--trees", str(folder / "trees.conllu"), str(folder / "trees.conllu"), "--alignments", str(folder / "gold.tsv"),
        "--most-effects", "12", "--draws", "100",
    ]  # fmt: skip


def measured(given: list[str], out: Path) -> Path:
    assert main([*given, "--out", str(out)]) == 0
    return out / "atlas.json"


@pytest.fixture(scope="module")
def whole(given: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An atlas with a tenth of the probe sentences."""
    few = probe_sentences()[::10]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("transformer_core.atlas.measure.probe_sentences", lambda: few)
        return measured(given, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def complete(given: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An atlas as other processes make it."""
    return measured(given, tmp_path_factory.mktemp("complete"))


@pytest.mark.process
def test_the_bytes_do_not_depend_on_the_workers(given: list[str], complete: Path, tmp_path: Path) -> None:
    """In a process of its own: workers import the main module, which other tests of this process may have replaced."""
    command = [sys.executable, "-m", "transformer_core", *given, "--workers", "2", "--out", str(tmp_path)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert (tmp_path / "atlas.json").read_bytes() == complete.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["atlas.json"], "what is no longer needed is gone"
    summary = json.loads(said.stdout.splitlines()[-1])
    atlas = load_atlas(complete, summary["checkpoint_hash"])
    assert summary["parts"] == ["align", "effects", "examples", "flow", "links", "looks", "resembles"]
    assert summary["heads"] == len(head_roles(atlas))


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.process
def test_a_killed_run_goes_on(given: list[str], complete: Path, call: Call, tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-m", "transformer_core", *given, "--out", str(tmp_path)], cwd=ROOT)
    until = time.monotonic() + 60
    while time.monotonic() < until and len(list((tmp_path / "work").glob("[!.]*.npz"))) < 3:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = list((tmp_path / "work").glob("[!.]*.npz"))
    assert left and not (tmp_path / "work" / "x").exists()
    first = min(left)
    first.write_bytes(first.read_bytes()[:40])  # a damaged one is computed again
    kept = {path: path.stat().st_mtime_ns for path in left if path != first}
    seen: dict[Path, int] = {}
    from transformer_core.atlas.resumable_map import ResumableMap

    clear = ResumableMap.clear
    try:
        ResumableMap.clear = lambda self: seen.update({p: p.stat().st_mtime_ns for p in self.folder.iterdir()})  # type: ignore[method-assign]
        assert call(*given, "--out", tmp_path).status == 0
    finally:
        ResumableMap.clear = clear  # type: ignore[method-assign]
    assert kept.items() <= seen.items(), "what was there is not computed again"
    assert (tmp_path / "atlas.json").read_bytes() == complete.read_bytes()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda v: v.update(format_version=9), "has format 9"),
        (lambda v: v.update(layers=5), "shape"),
        (lambda v: v.update(layers=10**9), r"Expected `int` <= 256 - at `\$.layers`"),
        (lambda v: v.update(extra=1), "unknown field `extra`"),
        (lambda v: v["looks"].update(sentences="many"), "Expected `int`"),
        (lambda v: v["looks"]["kinds"].pop("cross"), "must have encoder, decoder, cross"),
        (lambda v: v["looks"]["kinds"]["cross"]["patterns"]["end"]["share"]["value"][0].__setitem__(0, 2.5), "outside"),
        (lambda v: v["looks"]["kinds"]["cross"]["patterns"]["end"]["q"][0].__setitem__(0, "x"), "finite numbers"),
        (lambda v: v["looks"]["kinds"]["cross"]["patterns"]["end"]["q"][0].append(0.1), "cannot be read"),
        (lambda v: v["effects"]["changes"]["zero"]["decoder"].update(low=[]), "shape"),
        (lambda v: v["effects"]["q"].pop("mean/resample"), "lack the numbers of the difference mean/resample"),
        (lambda v: v["effects"]["changes"].pop("random-mean"), "lack the numbers of the difference mean/random-mean"),
        (lambda v: v["effects"]["differences"]["zero/random"].pop("cross"), "must have encoder, decoder, cross"),
        (lambda v: v["align"].update(rows={}), "must have output, input"),
        (lambda v: v["flow"]["share"].pop("cross"), "must have encoder, decoder, cross"),
        (lambda v: v["flow"]["cut"]["random"]["value"].pop(), "shape"),
        (lambda v: v["flow"]["kept"].pop("flow"), "flow has flow, gradient"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_trusted_is_refused(whole: Path, tmp_path: Path, change: object, reason: str) -> None:
    value = json.loads(whole.read_text(encoding="utf-8"))
    change(value)  # type: ignore[operator]
    file = tmp_path / "atlas.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(CheckpointError, match=reason):
        load_atlas(file)


def test_other_files_are_refused(whole: Path, tmp_path: Path) -> None:
    for name, data in {
        "deep": b"[" * 100_000,
        "nan": whole.read_bytes().replace(b'"seed": 0', b'"seed": NaN'),
        "large": b" " * 3_000_001,
        "cut": whole.read_bytes()[:-20],
        "bytes": b"\xff\x00",
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(CheckpointError, match=name):
            load_atlas(tmp_path / name)
    with pytest.raises(CheckpointError, match="is of the model"):
        load_atlas(whole, "0" * 64)
    (tmp_path / "link").symlink_to(whole)
    with pytest.raises(CheckpointError, match="link"):
        load_atlas(tmp_path / "link")


def test_pruning_needs_effects(
    call: Call, given: list[str], whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformer_core.atlas.decoding.paired_bootstrap", partial(paired_bootstrap, samples=20))
    said = call(*given, "--parts", "prune", "--out", tmp_path)
    assert "has no part effects" in one_line_error(said, status=1)
    (tmp_path / "atlas.json").write_bytes(whole.read_bytes())
    assert call(*given, "--most-effects", "4", "--parts", "decode", "--out", tmp_path).status == 0
    atlas = load_atlas(tmp_path / "atlas.json")
    assert atlas.decode is not None and atlas.looks is not None
    assert atlas.sources["decode"].data["sentences"][0] == "pairs.tsv"


def test_one_command_measures_all_parts_that_have_their_files(
    given: list[str], whole: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def measured(_task: Task, parts: list[str]) -> Atlas:
        asked.append(parts)
        return load_atlas(whole)

    monkeypatch.setattr("transformer_core.atlas.measure.measure", measured)
    at = given.index("--alignments")
    for options in (given, [*given[:at], *given[at + 2 :]]):
        assert call(*options, "--parts", "all", "--out", tmp_path).status == 0
    assert asked == [list(PARTS), [name for name in PARTS if name != "align"]]


def test_the_file_names_its_inputs_with_hash_and_sentences(given: list[str], whole: Path) -> None:
    atlas = load_atlas(whole)
    pairs, trees, gold = (Path(given[given.index(flag) + 1]) for flag in ("--sentences", "--trees", "--alignments"))
    digest = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in (pairs, trees, gold)}
    lines = len(pairs.read_text(encoding="utf-8").splitlines())
    assert atlas.inputs("looks") == {"sentences": (pairs.name, digest[pairs], lines)}
    assert atlas.inputs("effects") == {"sentences": (pairs.name, digest[pairs], 12)} == atlas.inputs("resembles")
    assert atlas.inputs("align") == {"alignments": (gold.name, digest[gold], 3)}
    tree = trees.name, digest[trees], 60
    assert atlas.inputs("links") == {"trees-1": tree, "trees-2": tree} and atlas.inputs("examples") == {}


@pytest.mark.parametrize("name", ["en-de", "en-fr", "en-fr-small", "en-tree"])
def test_docs_say_where_every_file_of_a_shipped_atlas_comes_from(name: str) -> None:
    atlas = shipped_atlas(ROOT / "checkpoints" / name)
    assert atlas
    docs = (ROOT / "docs" / "atlas.md").read_text(encoding="utf-8")
    files = {file for part in atlas.sources for file in atlas.inputs(part).values()}
    assert files and all(f"| {file.removesuffix('.xz')} | `{digest}` |" in docs for file, digest, _ in files)
    assert all(count >= 100 for _, _, count in files)


@pytest.mark.parametrize("name", ["en-de", "en-fr", "en-fr-small"])
def test_circuits_are_of_the_pairs_that_ship(name: str) -> None:
    atlas = shipped_atlas(ROOT / "checkpoints" / name)
    assert atlas
    paths = [FOLDER / f"{task}.tsv" for task in shipped_tasks() if task.endswith(f".{name.removesuffix('-small')}")]
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    assert dict(atlas.sources["circuits"].data.values()) == files


def test_atlas_is_put_into_its_checkpoint_only(made: Workplace, call: Call, whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(made.checkpoint, folder)
    assert shipped_atlas(folder) is None
    command = ["derived", "--checkpoint", folder, "--only", "atlas", "--atlas"]
    assert call(*command, whole).status == 0
    checkpoint = load_checkpoint(folder)
    assert shipped_atlas(folder, checkpoint.weights_hash) is not None
    assert (folder / "derived" / "atlas.json").read_bytes() == whole.read_bytes()
    other = tmp_path / "other.json"
    other.write_bytes(whole.read_bytes().replace(checkpoint.weights_hash.encode(), b"0" * 64))
    assert "is of the model 000000000000" in one_line_error(call(*command, other), status=1)
