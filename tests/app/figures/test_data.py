from __future__ import annotations

import json

import numpy as np

from tests.app.figures.samples import arrays_of, layer_heads, matrix, named_matrix, one_head, table_of
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import HeatmapFigure, HeatmapPanel, export


def test_csv_has_every_cell_exactly(maps: AttentionMaps) -> None:
    figure = layer_heads(maps, "decoder", 2)
    rows = table_of(figure)
    assert len(rows) == 8 * 8 * 8
    for row in rows:
        panel, head = int(row["panel"]), int(row["head"].removeprefix("decoder.3."))
        query, key = int(row["query"]) - 1, int(row["key"]) - 1
        assert panel == head
        assert np.float32(row["weight"]) == maps.decoder[2, head - 1, query, key]
        assert row["query_label"] == maps.inputs.tokens[query]
        assert row["masked"] == str(int(key > query))


def test_csv_labels_survive_and_none_is_a_formula(hostile: AttentionMaps) -> None:
    rows = table_of(one_head(hostile, "cross", 0, 0))
    labels = [row["key_label"] for row in rows[: len(hostile.source)]]
    assert tuple(label.removeprefix("'") for label in labels) == tuple(
        token.removeprefix("'") if not token.startswith("'") else token for token in hostile.source.tokens
    )
    assert not [label for label in labels if label.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    assert "'=1+1" in labels
    assert "''quoted'" in labels


def test_csv_is_rfc_4180_with_a_mark_for_excel(hostile: AttentionMaps) -> None:
    data = export(one_head(hostile, "cross", 0, 0), "csv")
    assert data.startswith(b"\xef\xbb\xbfpanel,head,query,query_label,key,key_label,weight,masked\r\n")
    assert b'"""a"",""b"""' in data


def test_npz_equals_the_weights_and_needs_no_pickle(maps: AttentionMaps) -> None:
    figure = layer_heads(maps, "cross", 4, provenance={"checkpoint": "checkpoints/en-de", "sentence": "한국어"})
    names = [f"cross.5.{head}" for head in range(1, 9)]
    archive = arrays_of(figure)
    assert archive["weights"].dtype == np.float32
    np.testing.assert_array_equal(archive["weights"], maps.cross[4])
    assert tuple(archive["query_labels"][0]) == maps.outputs.tokens
    assert tuple(archive["key_labels"][7]) == maps.source.tokens
    assert archive["heads"].tolist() == names
    assert not archive["masked"].any()
    about, words = (json.loads(str(archive[name])) for name in ("provenance", "description"))
    assert about["sentence"] == "한국어"
    assert words["kind"] == "cross"
    # CSV and JSON count alike, and the files of numbers say from where.
    rows, content = table_of(figure), json.loads(export(figure, "json"))
    assert {row["head"] for row in rows} == set(names)
    assert [panel["head"] for panel in content["panels"]] == names == about["heads"] == content["provenance"]["heads"]
    assert about["view"]["layer"] == content["provenance"]["view"]["layer"] == "cross.5"


def test_npz_of_panels_of_different_shapes() -> None:
    panels = [HeatmapPanel(weights=np.eye(n), query_labels=["q"] * n, key_labels=["k"] * n) for n in (2, 3)]
    figure = HeatmapFigure(panels=panels, query_title="query", key_title="key")
    archive = arrays_of(figure)
    np.testing.assert_array_equal(archive["weights_1"], np.eye(3))
    assert archive["heads"].tolist() == ["", ""]


def test_json_reads_back_to_the_same_float32(maps: AttentionMaps) -> None:
    figure = one_head(maps, "decoder", 1, 2, language="ko")
    content = json.loads(export(figure, "json"))
    panel = content["panels"][0]
    np.testing.assert_array_equal(np.array(panel["weights"], dtype=np.float32), maps.decoder[1, 2])
    assert panel["head"] == "decoder.2.3"
    assert tuple(panel["query_labels"]) == maps.inputs.tokens
    assert panel["masked"][0][1] is True
    assert content["caption"] == figure.caption


def test_names_of_rows_and_columns_are_in_the_data() -> None:
    figure = named_matrix()
    rows = table_of(figure)
    assert [row["value"] for row in rows] == [str(value) for value in figure.matrix.ravel()]
    assert [row["row_label"] for row in rows[::2]] == ["\u2581<b>Hund", "'=1+1", "$x$_1%"]
    assert {row["column_label"] for row in rows} == {"\uce35 1", "&amp;"}
    assert tuple(arrays_of(figure)["row_labels"]) == figure.row_labels
    assert json.loads(export(figure, "json"))["column_labels"] == list(figure.column_labels)
    assert "row_labels" not in arrays_of(matrix())
