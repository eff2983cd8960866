"""Figures of the means of heads over a data set: the numbers of the table, with the command that draws them again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from transformer_core.attention_maps import KINDS
from transformer_core.cli import main
from transformer_core.cli.analyse.data_set import mean_rows
from transformer_core.storage.csv_table import csv_bytes
from transformer_core.storage.manifest import Manifest
from viz_app.cli import PROGRAM
from viz_app.export import head_means

LAYERS, HEADS = 2, 4
GRID = ["export", "--checkpoint=model", "--table=effect.means.csv", "--view=grid"]


@pytest.fixture
def folder(random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model, and means that its heads could have."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(random_checkpoint, "model")
    write("effect.means.csv", "effect")
    return tmp_path


def write(name: str, measure: str, heads: int = HEADS, weights_hash: str | None = None) -> npt.NDArray[np.float64]:
    """Write means over three sentences; returns (3 kinds, L, H)."""
    places = np.indices((len(KINDS), LAYERS, heads)).reshape(3, -1)
    values = np.random.default_rng(1).normal(size=(3, places.shape[1]))
    names = [f"{KINDS[kind]}.{layer + 1}.{head + 1}" for kind, layer, head in places.T]
    table = {"line": np.repeat([1, 2, 3], places.shape[1]), "head": np.array(names * 3)}
    header, *rows = mean_rows({**table, measure: values.ravel()})
    known = Manifest.read(Path("model")).weights_hash if weights_hash is None else weights_hash
    Path(name).write_bytes(csv_bytes([*header, "weights_hash"], [[*row, known] for row in rows]))
    result: npt.NDArray[np.float64] = values.mean(axis=0).reshape(len(KINDS) * LAYERS, heads)
    return result


@pytest.mark.parametrize(("measure", "percent"), [("effect", 1), ("recovered", 100)])
def test_the_figure_has_the_means_and_its_command(folder: Path, measure: str, percent: int) -> None:
    expected = write(f"{measure}.means.csv", measure)
    arguments = ["export", "--checkpoint=model", f"--table={measure}.means.csv", "--view=grid", "--out=a.json"]
    assert main(arguments, PROGRAM) == 0
    data = json.loads(Path("a.json").read_text(encoding="utf-8"))
    np.testing.assert_allclose(data["values"], percent * expected, rtol=1e-6)
    assert data["provenance"]["table"]["name"] == f"{measure}.means.csv"


def tear(file: Path) -> None:
    """Leave the last head out."""
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-2]))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda file: write(file.name, "effect", weights_hash="a" * 64), "of another model"),
        (tear, "no table of means"),
        (lambda file: file.write_bytes(b"\xff\x00\xfe" * 50), "no table of means"),
        (lambda file: file.write_text("measure,head\neffect,cross.1.1\n", encoding="utf-8"), "no table of means"),
        (lambda file: file.write_bytes(file.read_bytes().replace(b",effect,", b",effect,x")), "no table of means"),
        (lambda file: os.truncate(file, head_means.MAX_BYTES + 1), "at most"),
    ],
    ids=["other model", "a head less", "no table", "text", "no numbers", "large"],
)
def test_another_table_is_refused(
    damage: Callable[[Path], object], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(Path("effect.means.csv"))
    assert main([*GRID, "--out=a.pdf"], PROGRAM) in (1, 2)
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("error: ") and said in line and not Path("a.pdf").exists()


def test_a_table_needs_its_view(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*GRID[:-1], "--out=a.pdf", "--view=pruning"], PROGRAM) == 2
    assert "--table needs --view grid" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["svg", "csv", "npz", "json"])
def test_the_figure_is_reproduced_from_its_table_wherever_it_is(
    ending: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = f"a.{ending}"
    assert main([*GRID, f"--out={out}"], PROGRAM) == 0
    Path("model").rename("moved")
    Path("effect.means.csv").rename("renamed.csv")
    assert main(["reproduce", out, "--checkpoint", "moved", "--table", "renamed.csv"], PROGRAM) == 0
    assert '"equal": true' in capsys.readouterr().out.splitlines()[-1]
    assert main(["reproduce", out, "--checkpoint", "moved"], PROGRAM) == 2
    assert "missing: --table" in capsys.readouterr().err
    Path("renamed.csv").write_bytes(Path("renamed.csv").read_bytes() + b"\n")
    assert main(["reproduce", out, "--checkpoint", "moved", "--table", "renamed.csv"], PROGRAM) == 2
    assert "is not the table of this figure" in capsys.readouterr().err


def test_a_figure_of_no_table_takes_none(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--checkpoint=model", "--text=The bus.", "--view=beam", "--out=a.svg"], PROGRAM) == 0
    assert main(["reproduce", "a.svg", "--checkpoint", "model", "--table", "effect.means.csv"], PROGRAM) == 2
    assert "this figure has no table" in capsys.readouterr().err
