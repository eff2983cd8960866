"""Files of figures with damage, as `reproduce` reads them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.abuse.damage import TEXTS, damaged
from tests.abuse.target import Target
from transformer_core.cli.arguments import UsageError
from viz_app.cli.reproduce import _figure_options
from viz_app.export.embedded_record import read_record
from viz_app.figures import HeatmapFigure, export
from viz_app.figures.model.figure import HeatmapPanel

FORMATS = ("pdf", "svg", "png", "tex", "json", "csv", "npz")
GOOD = "python -m viz_app export --checkpoint=a --text=한국어 --layer=1 --head=1 --out=x.pdf"


@cache
def _file(format: str, command: str) -> bytes:
    record = {"checkpoint_sha256": "0" * 64, "command": command}
    if format == "csv":
        return json.dumps(record).encode()
    panel = HeatmapPanel(weights=np.ones((1, 1)), query_labels=["a"], key_labels=["b"])
    figure = HeatmapFigure(panels=[panel], query_title="Query", key_title="Key", provenance=record)
    return export(figure, format)


def _check_file(case: dict[str, Any]) -> None:
    try:
        record = read_record(damaged(_file(case["format"], case["command"]), case), case["format"])
        _figure_options(record, [], None)
    except UsageError as error:
        assert "\n" not in str(error)
        return
    raise AssertionError("no shipped model has such a hash")


_FILES = st.fixed_dictionaries(
    {
        "format": st.sampled_from(FORMATS),
        "command": st.just(GOOD) | st.sampled_from((*TEXTS, f"{GOOD} '", f"{GOOD};", f"{GOOD} $'\\777'", "$'\\q")),
    },
    optional={
        "flips": st.lists(st.tuples(st.integers(0, 2**14), st.integers(0, 255)), max_size=4),
        "length": st.integers(0, 2**14),
    },
)

TARGETS = (Target("figures", _FILES, _check_file),)
