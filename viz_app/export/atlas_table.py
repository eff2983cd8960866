"""All measures of all heads as files: a CSV with a line for each number, and an NPZ with an array for each table.

Every line of the CSV says of which model it is and how its part was measured, so that lines of several models can stand
in one table. Arrays of the NPZ are (layers, heads).
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transformer_core.analysis.ablation import Head
from transformer_core.atlas.measures import HeadNumbers, Measure, measures
from transformer_core.atlas.naming import Role, first_roles
from transformer_core.atlas.record import Atlas
from transformer_core.storage.csv_table import csv_bytes, escape_formula
from viz_app.figures.build.atlas import atlas_record

COLUMNS = (
    *("head", "role", "measure", "unit", "value", "low", "high", "baseline", "q", "detail"),
    *("weights_hash", "part", "version", "seed", "draws", "data"),
)
TABLES = ("value", "low", "high", "baseline", "q")


def to_csv(atlas: Atlas, roles: Mapping[Head, Sequence[Role]]) -> bytes:
    """Return one line for each number, empty where there is none; quoted and encoded as `viz_app.figures` writes CSV.

    Args:
        atlas: The atlas.
        roles: Of every head, from `head_roles`.
    """
    rows: list[list[object]] = []
    for measure in measures(atlas):
        source = _source(atlas, measure)
        for head, _ in measure.rows():
            numbers = measure.kinds[head.kind]
            role = escape_formula(" / ".join(each.label for each in first_roles(roles.get(head, ()))))
            detail = escape_formula(numbers.detail[head.layer][head.head]) if numbers.detail else ""
            cells = _cells(numbers, head.layer, head.head)
            rows.append([head, role, measure.name, measure.unit, *cells, detail, *source])
    return csv_bytes(COLUMNS, rows)


def _cells(numbers: HeadNumbers, layer: int, head: int) -> list[float | str]:
    values = (float(getattr(numbers, name)[layer, head]) for name in TABLES)
    return [value if np.isfinite(value) else "" for value in values]


def _source(atlas: Atlas, measure: Measure) -> list[object]:
    """Model, part, version, seed, draws and data; the gain comes from several parts, of which it names the first."""
    part = next((name for name in (measure.part, "looks", "links", "align") if name in atlas.sources), "")
    if not part:
        return [atlas.weights_hash, *[""] * 5]
    source = atlas.sources[part]
    data = "; ".join(
        f"{use}: {name} (sha256 {digest}, {n} sentences)" for use, (name, digest, n) in atlas.inputs(part).items()
    )
    return [atlas.weights_hash, part, source.version, source.seed, source.draws, escape_formula(data)]


def to_npz(atlas: Atlas) -> bytes:
    """Return a numpy archive that needs no pickle; the same atlas gives the same bytes.

    For each measure and kind the arrays `MEASURE.KIND.value`, `low`, `high`, `baseline` and `q`, each (L, H) float64
    with NaN where there is no number, and `detail` (L, H) text; `units`, JSON text by measure; `provenance`, JSON text.
    """
    table = measures(atlas)
    arrays: dict[str, Any] = {
        "provenance": np.array(json.dumps(atlas_record(atlas), ensure_ascii=False, sort_keys=True)),
        "units": np.array(json.dumps({measure.name: measure.unit for measure in table}, sort_keys=True)),
    }
    for measure in table:
        for kind, numbers in measure.kinds.items():
            arrays |= {f"{measure.name}.{kind}.{name}": getattr(numbers, name) for name in TABLES}
            if numbers.detail:
                arrays[f"{measure.name}.{kind}.detail"] = np.array(numbers.detail, dtype=np.str_)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()
