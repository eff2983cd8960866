"""Tables and views of the atlas as files."""

from __future__ import annotations

import csv
import io
import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from tests.app.conftest import Serve
from tests.app.figures.samples import drawn
from tests.atlas_samples import drawn_atlas
from transformer_core.atlas.measures import NAMES, measure_named, measures
from transformer_core.atlas.naming import head_roles
from transformer_core.atlas.record import Atlas, Source
from transformer_core.atlas.storage import FILE, load_atlas
from transformer_core.checkpoint import load_checkpoint
from transformer_core.cli import main
from viz_app.cli import PROGRAM
from viz_app.export.atlas_table import COLUMNS, TABLES, to_csv, to_npz
from viz_app.export.command import command_for
from viz_app.export.figure_request import ModelRunner, Sentence, run_figure
from viz_app.export.recorded import file_bytes
from viz_app.figures import FigureOptions, Style, export, formats_of


def test_every_number_is_in_the_csv() -> None:
    atlas = drawn_atlas()
    rows = list(csv.DictReader(io.StringIO(to_csv(atlas, head_roles(atlas)).decode("utf-8-sig"), newline="")))
    assert tuple(rows[0]) == COLUMNS
    values = {(row["measure"], row["head"]): row for row in rows}
    count = 0
    for measure in measures(atlas):
        for place, value in measure.rows():
            kind, layer, head = place
            row = values[measure.name, f"{kind}.{layer + 1}.{head + 1}"]
            count += 1
            assert float(row["value"]) == value
            numbers = measure.kinds[kind]
            for name in TABLES:
                wanted = float(getattr(numbers, name)[layer, head])
                assert row[name] == "" if np.isnan(wanted) else float(row[name]) == wanted
            assert row["weights_hash"] == "a" * 64 and row["seed"] == "0" and row["draws"] == "100"
            used = 60 if row["part"] == "align" else 50
            assert f"pairs.tsv (sha256 {'c' * 64}, {used} sentences)" in row["data"] and row["unit"] == measure.unit
    assert count == len(rows)


def test_every_number_is_in_the_npz_and_the_bytes_are_the_same_again() -> None:
    atlas = drawn_atlas()
    data = to_npz(atlas)
    assert data == to_npz(drawn_atlas())
    with np.load(io.BytesIO(data)) as archive:
        for measure in measures(atlas):
            for kind, numbers in measure.kinds.items():
                for name in TABLES:
                    np.testing.assert_array_equal(archive[f"{measure.name}.{kind}.{name}"], getattr(numbers, name))
        record = json.loads(str(archive["provenance"]))
        assert json.loads(str(archive["units"]))["effect"] == "nats"
    assert record["weights_hash"] == "a" * 64
    assert record["parts"]["effects"]["data"] == {
        "sentences": {"name": "pairs.tsv", "sha256": "c" * 64, "sentences": 50}
    }


@pytest.mark.parametrize("name", ["=cmd()", "+1+2", "-x", "@x"])
def test_no_name_from_a_file_is_a_formula(name: str) -> None:
    atlas = drawn_atlas()
    source = Source(version="1", seed=0, draws=1, data={name: (name, "c" * 64)})
    changed = msgspec.structs.replace(atlas, sources=dict.fromkeys(atlas.sources, source))
    cells = [cell for row in csv.reader(io.StringIO(to_csv(changed, {}).decode("utf-8-sig"))) for cell in row]
    assert any(name in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(name)]


def test_a_source_may_be_missing() -> None:
    atlas = msgspec.structs.replace(drawn_atlas(), sources={})
    rows = list(csv.DictReader(io.StringIO(to_csv(atlas, {}).decode("utf-8-sig"), newline="")))
    assert rows and {row["part"] for row in rows} == {""}


VIEW_OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("grid", {}),
    ("grid", {"measure": "effect"}),
    ("pruning", {}),
    ("pruning", {"group": "cross", "score": "chrf", "left": 3}),
]


@pytest.fixture
def folder(serve_atlas: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint with an atlas, from where the test now stands."""
    monkeypatch.chdir(tmp_path)
    return serve_atlas()


@pytest.fixture
def atlas(folder: Path) -> Atlas:
    return load_atlas(folder / "derived" / FILE)


@pytest.mark.parametrize(("view", "parameters"), VIEW_OPTIONS)
def test_the_command_makes_the_same_file(folder: Path, view: str, parameters: dict[str, Any]) -> None:
    options = FigureOptions(view=view, language="ko", **parameters)
    figure = run_figure(options, Sentence(checkpoint="served", text=""), ModelRunner())
    style = Style(width_mm=70.5, theme="dark")
    words = shlex.split(command_for(figure, style, format="json"))
    assert words[:3] == ["python", "-m", "viz_app"] and not any(word.startswith("--text") for word in words)
    assert main(words[3:], PROGRAM) == 0
    (made,) = folder.parent.glob("headlight_*.json")
    assert made.read_bytes() == file_bytes(figure, "json", style)
    record = json.loads(made.read_text(encoding="utf-8"))["provenance"]
    assert record["atlas"]["parts"]["looks"]["data"]["sentences"]["sha256"] == "c" * 64
    assert record["atlas"]["weights_hash"] == load_checkpoint(folder).weights_hash


def test_the_grid_holds_the_numbers_of_the_measure(atlas: Atlas) -> None:
    for name in NAMES:
        figure = drawn("grid", atlas=atlas, measure=name)
        measure = measure_named(atlas, name)
        factor = 100 if measure.unit in ("share", "points") else 1
        wanted = np.concatenate([numbers.value for numbers in measure.kinds.values()])
        np.testing.assert_allclose(figure.matrix, factor * wanted)
        assert figure.diverging == measure.diverging
        assert figure.row_labels[-1].startswith({"relation": "encoder"}.get(name, "cross"))


def test_the_curves_are_those_of_the_atlas_and_random_ones_a_band(atlas: Atlas) -> None:
    assert atlas.prune
    figure = drawn("pruning", atlas=atlas, group="decoder", score="chrf", left=4)
    assert figure.cut == 4
    effect, random = figure.series
    wanted = {order: [c for c in atlas.prune.curves if (c.heads, c.order) == ("decoder", order)]
              for order in ("effect", "random")}  # fmt: skip
    (curve,) = wanted["effect"]
    points = {count: score.chrf for count, score in zip(curve.kept, curve.scores, strict=True)}
    assert dict(zip(effect.xs.tolist(), effect.ys.tolist(), strict=True)) == points
    halves = [score.chrf_half for score in curve.scores[::-1]]
    assert effect.band is not None, "95 % over sentences"
    np.testing.assert_allclose(effect.band, [effect.ys - halves, effect.ys + halves])
    assert figure.readings()[0] == points[4], "the cut is read where it stands"
    assert figure.formatted_readings()[0] == f"{points[4]:.2f}", "a score has no sign"
    between = drawn("pruning", atlas=atlas, group="decoder", score="chrf", left=5)
    assert len(between.caption) > len(figure.caption) and " 5 " in between.caption, "what was not measured says so"
    draws = np.array([[score.chrf for score in curve.scores[::-1]] for curve in wanted["random"]])
    assert random.band is not None
    np.testing.assert_allclose(random.ys, draws.mean(axis=0))
    np.testing.assert_allclose(random.band, [draws.min(axis=0), draws.max(axis=0)])


def test_a_band_is_in_every_format(atlas: Atlas) -> None:
    figure = drawn("pruning", atlas=atlas)
    assert {"pdf", "svg", "png", "tex", "csv", "npz", "json"} <= set(formats_of(figure))
    band = figure.series[1].band
    assert band is not None
    text = export(figure, "csv").decode("utf-8-sig").splitlines()
    assert text[0] == "series,label,x,y,low,high"
    assert [float(cell) for cell in text[-1].split(",")[-2:]] == band[:, -1].tolist()
    assert not text[1].endswith(",,"), "every curve has its interval"
    with np.load(io.BytesIO(export(figure, "npz"))) as archive:
        np.testing.assert_array_equal(archive["band_1"], band)
    assert export(figure, "tex").decode().count("fill opacity") == len(figure.series)
    plain = replace(figure, series=[replace(figure.series[0], low=None, high=None)])
    assert b"fill-opacity" not in export(plain, "svg") and b"opacity: 0.18" in export(figure, "svg")


def test_a_model_without_a_sound_atlas_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["export", "--checkpoint=served", "--view=grid", "--out=out.pdf"]
    (folder / "derived" / FILE).write_bytes(b"{}")
    assert main(arguments, PROGRAM) == 1
    assert "atlas.json" in capsys.readouterr().err
    shutil.rmtree(folder / "derived")
    assert main(arguments, PROGRAM) == 2
    assert "has no head atlas" in capsys.readouterr().err


def test_the_papers_appendix_has_the_grids_and_the_curves(folder: Path) -> None:
    command = ["export", "--checkpoint=served", "--set=paper", "--out=paper", "--format=json"]
    assert main(command, PROGRAM) == 0
    names = {path.stem for path in Path("paper/json").iterdir()}
    of_atlas = {f"headlight_{name}" for name in ("grid_gain", "grid_effect", "pruning_all_bleu")}
    assert of_atlas <= names and len(names) == 5 + len(of_atlas)
    assert main(["reproduce", "paper/json/headlight_grid_effect.json", "--checkpoint=served"], PROGRAM) == 0
    shutil.rmtree(folder / "derived")
    shutil.rmtree("paper")
    assert main(command, PROGRAM) == 0
    assert {path.stem for path in Path("paper/json").iterdir()} == names - of_atlas
