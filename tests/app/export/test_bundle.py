"""A set of figures as a zip, and the figures of the paper's appendix."""

from __future__ import annotations

import hashlib
import html
import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from tests.app.conftest import SENTENCE
from viz_app.export import BundleItem, bundle, command_for, file_bytes
from viz_app.export.figure_request import ModelRunner, Sentence, run_figure
from viz_app.export.paper import STRUCTURE, STRUCTURE_LINKS, measure_links, paper_figures, word_index
from viz_app.figures import Figure, FigureOptions, LinesFigure, Style


@pytest.fixture
def figures(reader: ModelRunner, at_checkpoint: str) -> list[Figure]:
    sentence = Sentence(checkpoint=at_checkpoint, text=SENTENCE)
    head = run_figure(FigureOptions(), sentence, reader)
    hostile = replace(head, title="<b>&</b>", caption="</html><script>", alt='"><img src=x>', name="../../UP")
    moving = run_figure(FigureOptions(view="decoding"), replace(sentence, target="Ja."), reader)
    return [head, replace(head, caption="second"), hostile, moving]


def test_a_bundle_has_every_figure_in_every_format_and_an_index(figures: list[Figure]) -> None:
    style = Style(letters=True)
    items = [BundleItem(figure=figure, style=style, dpi=40) for figure in figures]
    data = bundle(items, ("svg", "csv"))
    small = bundle(items[:1], ("png", "json"))
    assert small == bundle(items[:1], ("png", "json")), "byte for byte the same"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        name = "headlight_cross.1.1"
        stems = [name, f"{name}-2", "_UP"]
        still = {f"{format}/{stem}.{format}" for stem in stems for format in ("svg", "csv")}
        records = {f"csv/{stem}.csv.json" for stem in [*stems, f"{name}_decoding"]}
        moving = {f"gif/{name}_decoding.gif", f"csv/{name}_decoding.csv"}
        assert set(archive.namelist()) == {"index.html", "index.json"} | still | records | moving
        assert archive.read(f"svg/{name}.svg") == file_bytes(figures[0], "svg", style)
        page = archive.read("index.html").decode()
        entries = json.loads(archive.read("index.json"))["figures"]
        for entry in (file for each in entries for file in each["files"]):
            assert hashlib.sha256(archive.read(entry["file"])).hexdigest() == entry["sha256"]
    assert [each["title"] for each in entries] == [figure.title for figure in figures]
    assert sum(len(each["files"]) for each in entries) == len(still | records | moving), "each file once"
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in page
    assert f'href="svg/{name}-2.svg"' in page
    assert command_for(figures[0], style, format="svg").split("--view")[0].split("'")[0] in page


def test_each_figure_of_a_bundle_keeps_its_own_style(figures: list[Figure]) -> None:
    styles = [Style(width_mm=50), Style(width_mm=70, theme="dark")]
    items = [BundleItem(figure=figure, style=style, dpi=40) for figure, style in zip(figures, styles, strict=False)]
    with zipfile.ZipFile(io.BytesIO(bundle(items, ("png", "tex")))) as archive:
        entries = json.loads(archive.read("index.json"))["figures"]
        for figure, style, each in zip(figures, styles, entries, strict=False):
            assert each["style"] == style.as_dict()
            assert each["provenance"]["source"] == SENTENCE
            drawing, text = each["files"]
            assert drawing["command"] == command_for(figure, style, format="png", dpi=40)
            assert archive.read(drawing["file"]) == file_bytes(figure, "png", style, dpi=40)
            assert archive.read(text["file"]) == file_bytes(figure, "tex", style)
        page = html.unescape(archive.read("index.html").decode())
    assert page.count(SENTENCE + " \u2192 ") == 1, "one heading for two figures of a sentence"
    assert "--width-mm=50" in page and "--width-mm=70" in page


def test_a_bundle_refuses_what_it_cannot_pack(figures: list[Figure]) -> None:
    with pytest.raises(ValueError, match="pdf, svg, png"):
        bundle([BundleItem(figure=figure) for figure in figures], ("bmp",))
    with pytest.raises(ValueError, match="at least one"):
        bundle([], ("pdf",))


def test_shares_of_heads_by_hand(reader: ModelRunner, at_checkpoint: str) -> None:
    maps = reader.run(Sentence(checkpoint=at_checkpoint, text=STRUCTURE)).maps.merged_to_words()
    words = list(maps.source.tokens)
    result = measure_links(maps, STRUCTURE_LINKS)
    for layer in range(2):
        for head in range(4):
            weights = [maps.encoder[layer, head, words.index(a), words.index(b)] for a, b in STRUCTURE_LINKS]
            assert result.shares[layer, head] == pytest.approx(sum(weights) / 7, abs=1e-6)
    assert result.uniform == pytest.approx(1 / len(words))
    assert result.shares[result.best] == result.shares.max()
    # Two words depend on "dog": a governor's weight on both counts, averaged over governors.
    two = measure_links(maps, (("dog", "The"), ("dog", "little")))
    row = maps.encoder[:, :, words.index("dog")]
    np.testing.assert_allclose(two.shares, row[:, :, 0] + row[:, :, 1], atol=1e-6)
    assert two.uniform == pytest.approx(2 / len(words))
    with pytest.raises(ValueError, match="'cat' is not a word"):
        word_index(maps, "cat")


def test_a_caption_of_the_paper_says_how_the_head_was_chosen(reader: ModelRunner, at_checkpoint: str) -> None:
    verb, anaphor, *_ = paper_figures(at_checkpoint, reader)
    assert isinstance(verb, LinesFigure)
    shares = np.array(verb.provenance["chosen_by"]["share_of_each_encoder_head"])
    layer, head = divmod(int(shares.argmax()), 4)
    assert f"head encoder.{layer + 1}.{head + 1} attends to it most: {100 * shares.max():.0f} %" in verb.caption
    assert [panel.layer for panel in verb.panels] == [layer] * 4
    assert "Of all 8 encoder heads" in anaphor.caption
