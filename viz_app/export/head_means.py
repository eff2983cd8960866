"""Means of heads over a data set, as `effects` and `patch` of transformer_core write them, as a measure to draw."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from transformer_core.atlas.measures import HeadNumbers, Measure
from transformer_core.attention_maps import KINDS
from transformer_core.cli.arguments import UsageError
from transformer_core.storage.files import read_regular

MAX_BYTES = 16_000_000
MEASURES = {"effect": "nats_translation", "recovered": "share"}  # with their units


def read_means(path: Path, weights_hash: str) -> Measure:
    """Read the first measure of FILE.means.csv. Raises UsageError for another table, and for one of another model."""
    text = read_regular(path, MAX_BYTES).decode("utf-8-sig", "replace")
    try:
        rows = [row for row in csv.DictReader(io.StringIO(text)) if row["measure"] in MEASURES]
        name, shape = rows[0]["measure"], [1 + max(int(row[place]) for row in rows) for place in ("layer", "head")]
        if len(rows) != len(KINDS) * (shape[0] - 1) * (shape[1] - 1):
            raise ValueError("a head is missing")
        values = np.full((3, len(KINDS), *shape), np.nan)
        for row in rows:
            place = KINDS.index(row["kind"]), int(row["layer"]), int(row["head"])  # type: ignore[arg-type]
            values[:, *place] = [float(row[each]) for each in ("mean", "low", "high")]
    except (KeyError, IndexError, ValueError, csv.Error) as error:
        raise UsageError(f"--table: {path} is no table of means of heads ({error})") from error
    if rows[0]["weights_hash"] != weights_hash:
        raise UsageError(f"--table: {path} is of another model than --checkpoint")
    values = values[:, :, 1:, 1:]
    none = np.full(values.shape[2:], np.nan)
    kinds = {
        kind: HeadNumbers(**dict(zip(("value", "low", "high"), values[:, place], strict=True)), baseline=none, q=none)
        for place, kind in enumerate(KINDS)
    }
    return Measure(name=f"table-{name}", part="", unit=MEASURES[name], diverging=True, kinds=kinds)
