"""Every view: its parameters, its record, and its files opened again."""

from __future__ import annotations

import io
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pypdf
import pytest

from tests.app.figures.conftest import HOSTILE
from tests.app.figures.samples import (
    arrays_of,
    curves,
    drawn,
    every_figure,
    flows,
    matrix,
    node,
    parser_output,
    pixels_of,
    table_of,
)
from tests.atlas_samples import drawn_atlas
from transformer_core import __version__
from transformer_core.attention_maps import AttentionMaps
from viz_app.figures import (
    VIEWS,
    ParserOutput,
    Search,
    Style,
    export,
    formats_of,
    view_named,
)
from viz_app.figures.colours.scales import sequential
from viz_app.figures.record import provenance_record


def test_all_kinds_are_one_table(maps: AttentionMaps) -> None:
    figure = drawn("all", maps=maps)
    assert (len(figure.panels), figure.columns, figure.rows) == (144, 8, 18)
    assert [panel.kind for panel in figure.panels[::48]] == ["encoder", "decoder", "cross"]
    np.testing.assert_array_equal(figure.panels[48 + 13].weights, maps.decoder[1, 5])
    assert figure.panels[48].masked is not None
    assert [count for _, count in figure.row_groups] == [6, 6, 6]
    assert figure.caption.startswith("All 144 heads: 48 in the encoder")
    assert re.search(r"Head cross\.\d\.\d of encoder-decoder attention has the strongest link there", figure.caption)


@pytest.mark.parametrize(
    ("view", "parameters", "message"),
    [
        ("lines", {"heads": (1, 1)}, r"heads are \[1, 1\], but must be one or more different heads"),
        ("lines", {"heads": (9,)}, "head is 9, but must be between 0 and 7"),
        ("lines", {"query": 8}, "query is 8, but must be between 0 and 7"),
        ("steps", {"steps": (3, 2)}, "must be increasing"),
        ("steps", {"steps": (9,)}, "step is 9, but must be between 1 and 8"),
        ("compare", {"other_layer": 6}, "layer is 6, but must be between 0 and 5"),
        ("head", {"kind": "own"}, "one of encoder, decoder, cross"),
        ("head", {"layer": 6}, r"layer is 6, but must be between 0 and 5"),
        ("head", {"head": -1}, r"head is -1, but must be between 0 and 7"),
        ("head", {"unit": "letters"}, "must be one of tokens, words"),
        ("head", {"step": 0}, "step is 0, but must be between 1 and 8"),
        ("head", {"step": 9}, "step is 9, but must be between 1 and 8"),
        ("head", {"language": "de"}, "must be one of en, ko"),
        ("head", {"theme": "sepia"}, "light, dark"),
        ("head", {"colour": 1}, "parameter 'colour' of a view does not exist; allowed are kind, layer"),
        ("beam", {}, "search is missing"),
        ("flow", {}, "flows are missing"),
        ("tree", {}, "this model is no parser"),
        ("tree", {"parse": parser_output(), "step": 9}, "step is 9, but must be between 1 and 8"),
        ("tree", {"parse": parser_output(), "step": 1, "head": 8}, "head is 8, but must be between 0 and 7"),
    ],
)
def test_views_check_their_parameters(maps: AttentionMaps, view: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VIEWS[view].draw(maps=maps, **parameters)


@pytest.mark.parametrize("name", VIEWS)
def test_a_views_record_makes_the_figure_again(maps: AttentionMaps, search: Search, name: str) -> None:
    given = {"layer": 2, "head": 3, "unit": "words", "language": "ko", "other_head": 1, "heads": (3, 4)}
    given |= {"word": "Hu", "unfold": True, "share": 30, "against": "Der"}
    material = {"maps": maps, "search": search, "parse": parser_output(), "atlas": drawn_atlas(), "flows": flows(maps)}
    first = VIEWS[name].draw(kind="decoder", **material, **given)
    record = json.loads(json.dumps(first.provenance["view"]))
    parameters = {key: tuple(value) if isinstance(value, list) else value for key, value in record.items()}
    again = view_named(str(parameters.pop("name"))).draw(**parameters, **material)
    assert export(again, "json") == export(first, "json")
    assert again.name == first.name


def test_every_figure_has_every_format_twice_the_same(small: AttentionMaps, search: Search) -> None:
    figures, again = (every_figure(small, search) for _ in range(2))
    style = Style(preset="acl-page", letters=True, caption=True)
    for name, figure in figures.items():
        for format in formats_of(figure):
            if name in ("layer", "heads", "all", "steps") and format in ("pdf", "png", "svg"):
                continue  # the same code as for one head
            assert export(figure, format, style, dpi=60) == export(again[name], format, style, dpi=60), (name, format)


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.slow), "ko"])
def test_pdfs_have_text_in_embedded_fonts(small: AttentionMaps, search: Search, language: str) -> None:
    for name, figure in every_figure(small, search, language=language).items():
        if name in ("decoding", "heads", "layer"):
            continue
        reader = pypdf.PdfReader(io.BytesIO(export(figure, "pdf", Style(preset="a4", caption=True))))
        text = "".join(reader.pages[0].extract_text().split())
        assert "".join(figure.title.split()) in text, name
        if figure.caption:
            assert "".join(figure.caption.split()) in text, name
        fonts = [font.get_object() for font in reader.pages[0]["/Resources"]["/Font"].values()]  # type: ignore[index]
        assert all("/FontFile2" in f["/DescendantFonts"][0].get_object()["/FontDescriptor"] for f in fonts)
        assert float(reader.pages[0].mediabox.width) == pytest.approx(180 / 25.4 * 72, abs=0.1)


def test_hostile_tokens_are_data_in_every_view_and_format(hostile: AttentionMaps) -> None:
    search = Search((node(-1, 1, 0, -0.1, "finished"),), 0, HOSTILE[0], -0.1, HOSTILE.__getitem__)
    record = {"sentence": "a\n\\input{/etc/passwd}"}
    words = ["_".join(word.split()) for word in HOSTILE if word] + ["a\\input{b}%"]
    symbols = ["(S", *["XX"] * len(words), ")S"]
    tree = ParserOutput(words, symbols, [-0.1] * len(symbols), range(len(words)))
    figures = every_figure(hostile, search, provenance=record) | {"tree": VIEWS["tree"].draw(parse=tree)}
    for name, figure in figures.items():
        if "svg" in formats_of(figure) and name not in ("layer", "heads", "all", "steps"):  # as of one head
            root = ElementTree.fromstring(export(figure, "svg", Style(caption=True)))
            tags = {element.tag.rsplit("}")[-1].lower() for element in root.iter()}
            assert not tags & {"script", "img", "b", "foreignobject", "a"}, name
        if "tex" in formats_of(figure):
            text = export(figure, "tex").decode()
            body = re.sub(r"(?<!\\)%.*", "", text)
            assert "\\input" not in body and "lualatex or xelatex" in text, name
            assert len(re.findall(r"(?<!\\)\{", body)) == len(re.findall(r"(?<!\\)\}", body)), name
        cells = [cell for row in table_of(figure) for cell in row.values() if not re.fullmatch(r"-?[\d.e-]+", cell)]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))], name


@pytest.mark.parametrize("options", [{"scale": "viridis"}, {"mapping": "sqrt"}, {"value_range": (0, 0.5)}])
def test_png_pixels_follow_the_style(hand_made: AttentionMaps, options: dict[str, Any]) -> None:
    figure, style = drawn("head", maps=hand_made, kind="cross"), Style(**options)
    weights = figure.panels[0].weights.astype(float)
    high = options.get("value_range", (0, 1))[1]
    share = np.minimum(weights / high, 1)
    places = np.rint((np.sqrt(share) if "mapping" in options else share) * 255).astype(int)
    np.testing.assert_array_equal(
        pixels_of(figure, style), sequential(options.get("scale", "headlight"), "light")[places]
    )


def test_csv_and_npz_of_other_kinds_are_exact(maps: AttentionMaps, search: Search) -> None:
    lines = drawn("lines", maps=maps, kind="cross", layer=2, heads=(1, 4))
    np.testing.assert_array_equal(arrays_of(lines)["weights"], maps.cross[2, [1, 4]])
    tree = table_of(VIEWS["beam"].draw(search=search))
    assert [(row["token"], float(row["log_probability"]), row["parent"]) for row in tree[-1:]] == [("</s>", -0.9, "4")]
    np.testing.assert_array_equal(arrays_of(curves())["y_1"], np.sqrt(np.arange(1, 101)))
    values = matrix().matrix
    table = table_of(matrix())
    assert np.array_equal([float(row["value"]) for row in table], values.ravel())
    content = json.loads(export(matrix(), "json"))
    assert np.array_equal(content["values"], values)
    assert content["provenance"]["version"]


def test_the_record_tells_origin_version_scale_and_style(maps: AttentionMaps) -> None:
    figure = drawn("head", maps=maps, kind="cross", layer=3, head=5, provenance={"sentence": "한국어"})
    provenance = json.loads(json.dumps(provenance_record(figure, Style(mapping="sqrt", value_range=(0, 0.5)))))
    assert provenance["sentence"] == "한국어"
    assert provenance["scale"] == "sqrt, 0 to 0.5"
    assert Style.from_dict(provenance["style"]) == Style(mapping="sqrt", value_range=(0, 0.5))
    assert provenance["version"] == __version__


def test_sixteen_people_at_once_each_get_their_own_figure(maps: AttentionMaps, search: Search) -> None:
    figures = [VIEWS["head"].draw(maps=maps, layer=i % 6, head=i) for i in range(8)]
    figures += [VIEWS["lines"].draw(maps=maps, layer=i, head=i, query=i) for i in range(6)]
    figures += [VIEWS["beam"].draw(search=search), curves()]
    alone = [export(figure, "png", dpi=50) for figure in figures]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda figure: export(figure, "png", dpi=50), figures)) == alone
    assert len(set(alone)) == 16


def test_a_slide_is_filled_and_not_more(small: AttentionMaps, search: Search) -> None:
    for name in ("head", "layer", "lines", "steps", "beam", "flow"):
        figure = VIEWS[name].draw(maps=small, kind="cross", search=search, flows=flows(small))
        box = pypdf.PdfReader(io.BytesIO(export(figure, "pdf", Style(preset="slide")))).pages[0].mediabox
        assert (float(box.width), float(box.height)) == pytest.approx((254 / 25.4 * 72, 143 / 25.4 * 72), abs=0.2), name


@pytest.mark.parametrize(
    ("view", "names", "indices"),
    [
        ("head", {"head": "cross.4.6"}, {"kind": "cross", "layer": 3, "head": 5}),
        ("layer", {"layer": "decoder.2"}, {"kind": "decoder", "layer": 1}),
        (
            "lines",
            {"heads": ("encoder.3.1", "encoder.3.5")},
            {"kind": "encoder", "layer": 2, "head": 0, "heads": (0, 4)},
        ),
        (
            "compare",
            {"head": "cross.1.1", "other_head": "encoder.4.3"},
            {"kind": "cross", "layer": 0, "head": 0, "other_kind": "encoder", "other_layer": 3, "other_head": 2},
        ),
    ],
)
def test_a_figure_takes_the_names_that_its_record_has(
    maps: AttentionMaps, view: str, names: dict[str, Any], indices: dict[str, Any]
) -> None:
    figure = VIEWS[view].figure(maps=maps, **names)
    assert export(figure, "json") == export(VIEWS[view].draw(maps=maps, **indices), "json")
    record = json.loads(export(figure, "json"))["provenance"]["view"]
    assert {name: record[name] for name in names} == {
        name: list(n) if name == "heads" else n for name, n in names.items()
    }


@pytest.mark.parametrize(
    "wrong", [{"head": 5}, {"head": "cross.4"}, {"layer": "cross.4.6"}, {"head": "4.6"}, {"layer": 3}]
)
def test_a_number_names_no_head(maps: AttentionMaps, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must be a name such as cross\.6"):
        VIEWS["head"].figure(maps=maps, **wrong)
    with pytest.raises(ValueError, match="must be heads of one layer"):
        VIEWS["lines"].figure(maps=maps, heads=("cross.1.1", "cross.2.1"))
