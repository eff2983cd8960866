"""The tables of all measures: read back, they are the atlas's numbers, and each line says where it comes from."""

from __future__ import annotations

import csv
import io
import json

import msgspec
import numpy as np
import pytest

from tests.atlas_samples import drawn_atlas
from transformer_core.atlas.measures import measures
from transformer_core.atlas.naming import head_roles
from transformer_core.atlas.record import Source
from viz_app.export.atlas_table import COLUMNS, TABLES, to_csv, to_npz


def test_every_number_is_in_the_csv() -> None:
    atlas = drawn_atlas()
    rows = list(csv.DictReader(io.StringIO(to_csv(atlas, head_roles(atlas)).decode("utf-8-sig"), newline="")))
    assert tuple(rows[0]) == COLUMNS
    found = {(row["measure"], row["kind"], row["layer"], row["head"]): row for row in rows}
    count = 0
    for measure in measures(atlas):
        for kind, layer, head, value in measure.rows():
            row = found[measure.name, kind, str(layer + 1), str(head + 1)]
            count += 1
            assert float(row["value"]) == value
            numbers = measure.kinds[kind]
            for name in TABLES:
                wanted = float(getattr(numbers, name)[layer, head])
                assert row[name] == "" if np.isnan(wanted) else float(row[name]) == wanted
            assert row["weights_hash"] == "a" * 64 and row["seed"] == "0" and row["draws"] == "100"
            assert "pairs.tsv" in row["data"] and row["unit"] == measure.unit
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
    assert record["parts"]["effects"]["data"] == {"sentences": {"name": "pairs.tsv", "sha256": "c" * 64}}


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
