"""Means of heads over a data set, as `analyse effects` and `analyse patch` write them, as a measure to draw."""

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
        name, (_, layers, heads) = rows[-1]["measure"], rows[-1]["head"].split(".")
        values = np.array([[row["mean"], row["low"], row["high"]] for row in rows], dtype=np.float64)
        values = values.reshape(len(KINDS), int(layers), int(heads), 3)
    except (KeyError, IndexError, TypeError, ValueError, csv.Error) as error:
        raise UsageError(f"--table: {path} is no table of means of all heads") from error
    if {row["weights_hash"] for row in rows} != {weights_hash}:
        raise UsageError(f"--table: {path} is of another model than --checkpoint")
    none = np.full(values.shape[1:3], np.nan)
    kinds = {
        kind: HeadNumbers(value=value, low=low, high=high, baseline=none, q=none)
        for kind, (value, low, high) in zip(KINDS, np.moveaxis(values, 3, 1), strict=True)
    }
    return Measure(name=f"table-{name}", part="", unit=MEASURES[name], diverging=True, kinds=kinds)
