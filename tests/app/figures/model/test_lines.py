"""Lines between tokens: what they hold, and their files."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from tests.app.figures.samples import pdf_text
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import (
    VIEWS,
    LinesFigure,
    Search,
    export,
    file_name,
)

SVG = "{http://www.w3.org/2000/svg}"


def test_lines_have_the_weights_of_their_heads(maps: AttentionMaps) -> None:
    figure = VIEWS["lines"].figure(maps=maps, kind="cross", layer=2, heads=(1, 4), query=3)
    assert isinstance(figure, LinesFigure)
    links = figure.links()
    expected = {(i, 3, k): maps.cross[2, h, 3, k] for i, h in enumerate((1, 4)) for k in range(7)}
    assert {link[:3]: np.float32(link[3]) for link in links} == {p: w for p, w in expected.items() if w >= 0.01}
    assert [link[3] for link in links] == sorted(link[3] for link in links)
    assert len(set(figure.colors)) == 2
    assert "biss" in figure.caption


def test_lines_of_one_head_and_all_queries(maps: AttentionMaps) -> None:
    figure = VIEWS["lines"].figure(maps=maps, kind="encoder", layer=0, head=2)
    assert isinstance(figure, LinesFigure)
    assert len({row for _, row, _, _ in figure.links()}) == 7
    assert file_name(figure, "pdf") == "headlight_encoder_layer1_head3_lines.pdf"


def test_lines_and_trees_show_their_tokens(hostile: AttentionMaps, search: Search) -> None:
    lines = export(VIEWS["lines"].figure(maps=hostile, kind="cross"), "svg")
    texts = ["".join(e.itertext()) for e in ElementTree.fromstring(lines).iter(f"{SVG}text")]
    assert texts.count("<s>") == 2  # once on each side
    tree = pdf_text(export(VIEWS["beam"].figure(search=search, language="ko"), "pdf"))
    for text in ("<script>alert(1\u2026", "한국어", "\u22120.70", "선택된 번역", "가지치기됨"):
        assert text in tree
