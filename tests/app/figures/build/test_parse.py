"""The tree of a parser's sentence: from brackets to a figure, alike in every format, and attention to words."""

from __future__ import annotations

import json
import math
import re
import shlex
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.app.figures.colours.test_palette import contrast
from tests.app.figures.samples import arrays_of, parser_output, pdf_text, table_of
from transformer_core.attention_maps import AttentionMaps
from transformer_core.parsing.treebank import parse_trees
from transformer_core.parsing.trees import Leaf
from viz_app.figures import VIEWS, ConstituencyFigure, ParserOutput, Search, Style, export, fonts
from viz_app.figures.model.constituency import place_tree
from viz_app.figures.mpl.renderer import drawing_settings


def tree(maps: AttentionMaps | None = None, **given: Any) -> ConstituencyFigure:
    figure = VIEWS["tree"].draw(**{"maps": maps, "parse": parser_output(), **given})
    assert isinstance(figure, ConstituencyFigure)
    return figure


def test_brackets_become_constituents_with_their_probabilities() -> None:
    figure = tree()
    rows = [(n.label, n.parent, n.begin, n.end, n.opening, n.closing) for n in figure.nodes]
    assert rows == [("S", -1, 0, 5, 0, 12), ("NP", 0, 0, 2, 1, 4), ("VP", 0, 2, 5, 5, 11), ("NP", 2, 3, 5, 7, 10)]
    assert [n.probability for n in figure.nodes] == pytest.approx(
        [math.exp(-0.01 * (n.opening + n.closing + 2)) for n in figure.nodes]  # type: ignore[operator]
    )
    assert figure.word_parents == (1, 1, 2, 3, 3)
    assert "4 constituents over 5 words, 3 levels deep" in figure.caption
    assert "Least probable: NP over \u201cone man.\u201d, 83 %" in figure.caption
    assert "구성 성분 4개" in tree(language="ko").caption and "repair" not in figure.caption


def test_what_is_repaired_hangs_from_top_and_is_told() -> None:
    figure = tree(parse=ParserOutput(("a", "b"), ("XX", "(NP", "XX"), (-0.1, -0.2, -0.3), (0, 1)))
    assert [(n.label, n.parent, n.begin, n.end, n.opening, n.closing, n.probability) for n in figure.nodes] == [
        ("TOP", -1, 0, 2, None, None, None),
        ("NP", 0, 1, 2, 1, None, None),
    ]
    assert "2 repairs were needed" in figure.caption
    export(figure, "png")


def test_words_are_tinted_by_the_row_of_the_token_that_the_step_generates(maps: AttentionMaps) -> None:
    figure = tree(maps, layer=2, head=5, step=4)
    row = maps.cross[2, 5, 3]
    assert figure.weights == pytest.approx([*row[:4], row[4] + row[5]], abs=1e-6)
    best = int(np.argmax(np.array(figure.weights)))
    generated = maps.outputs.tokens[3].lstrip("\u2581")
    told = f"While generating \u201c{generated}\u201d, head cross.3.6 attends most to \u201c{figure.words[best]}\u201d"
    assert told in figure.caption
    assert figure.provenance["view"] == {"name": "tree", "layer": 2, "head": 5, "step": 4}
    with pytest.raises(ValueError, match="the maps have 6 source tokens, but the parser read 2"):
        tree(maps, step=1, parse=ParserOutput(("a", "b"), (), (), (0, 1)))


def labels_of(figure: ConstituencyFigure) -> list[str]:
    return [*(node.label for node in figure.nodes), *figure.words]


@pytest.mark.parametrize("options", [{}, {"step": 3, "confidence": True, "theme": "dark", "language": "ko"}])
def test_all_renderers_draw_the_same_tree(maps: AttentionMaps, options: dict[str, Any]) -> None:
    figure = tree(maps, **options)
    tinted = [
        *(figure.node_tint(i, Style()) for i in range(len(figure.nodes))),
        *(figure.word_tint(i, Style()) for i in range(len(figure.words))),
    ]
    assert any(tinted) == bool(options)
    svg = ElementTree.fromstring(export(figure, "svg", Style(title=False, legend=False)))
    written = ["".join(each.itertext()).strip() for each in svg.iter() if each.tag.endswith("}text")]
    assert written[: len(labels_of(figure))] == labels_of(figure)
    fills = {match.lower() for match in re.findall(r"fill: (#[0-9a-fA-F]{6})", export(figure, "svg").decode())}
    assert {tint for tint in tinted if tint} <= fills
    text = export(figure, "tex").decode()
    nodes = re.findall(r"\\node(?:\[fill=[^\]]*\])? at \(([-\d.]+),([-\d.]+)\) \{\\strut ([^}]*)\}", text)
    assert [label for _, _, label in nodes] == labels_of(figure)
    with drawing_settings():
        places = place_tree(figure, fonts.width)
    for (x, y, _), place in zip(nodes, (*places.nodes, *places.words), strict=True):
        assert (float(x), float(y)) == pytest.approx(place, abs=1e-3)
    assert text.count("\\draw") == len(labels_of(figure)) - 1
    for tint in filter(None, tinted):
        red, green, blue = (int(tint[i : i + 2], 16) for i in (1, 3, 5))
        assert f"fill={{rgb,255:red,{red};green,{green};blue,{blue}}}" in text
    page = pdf_text(export(figure, "pdf"))
    assert all(word in page for word in figure.words)


def test_labels_can_be_read_on_every_tint(maps: AttentionMaps) -> None:
    """WCAG 2.2: a contrast of 4.5 at least, for every weight in both themes."""
    for theme in ("light", "dark"):
        figure = tree(maps, step=1, theme=theme)
        for weight in np.linspace(0, 1, 60):
            tint = "#" + bytes(figure.color_map(Style()).rgb(weight).tolist()).hex()
            assert contrast(tint, figure.ink_on(tint)) >= 4.5, (theme, weight)


def test_the_data_hold_the_tree(maps: AttentionMaps) -> None:
    figure = tree(maps, step=2)
    content = json.loads(export(figure, "json"))
    (read,) = parse_trees([content["tree"]])
    assert read.words == figure.words and content["words"][1] == {
        "word": "dog", "parent": 2, "weight": pytest.approx(figure.weights[1])  # type: ignore[index]
    }  # fmt: skip
    assert [node["label"] for node in content["nodes"]] == ["S", "NP", "VP", "NP"]
    rows = table_of(figure)
    assert [(row["what"], row["number"], row["parent"], row["label"]) for row in rows[3:5]] == [
        ("constituent", "4", "3", "NP"),
        ("word", "1", "2", "The"),
    ]
    assert [rows[3][name] for name in ("first_word", "last_word", "opening", "closing")] == ["4", "5", "8", "11"]
    assert arrays_of(figure)["spans"].tolist() == [[0, 5], [0, 2], [2, 5], [3, 5]]
    np.testing.assert_allclose(arrays_of(figure)["weights"], np.array(figure.weights), atol=1e-6)


def test_a_parsers_search_chose_a_tree(search: Search) -> None:
    for parse, word in ((parser_output(), "tree"), (None, "translation")):
        figure: Any = VIEWS["beam"].draw(search=search, parse=parse)
        assert figure.best_title == f"chosen {word}"


def test_a_long_sentence_keeps_letters_of_six_points(maps: AttentionMaps) -> None:
    from viz_app.figures.mpl import constituency
    from viz_app.figures.mpl.renderer import drawing_settings

    count = 60
    figure = tree(
        parse=ParserOutput(["considerable"] * count, ["(S", *["XX"] * count, ")S"], [-0.1] * (count + 2), range(count))
    )
    with drawing_settings():
        plain, narrow = constituency.Drawing(figure, Style()), constituency.Drawing(figure, Style(width_mm=180))
    assert plain.font == pytest.approx(6.0) and plain.width > 1000
    assert narrow.width == pytest.approx(180 / 25.4 * 72) and narrow.places.width * narrow.font <= narrow.width


@pytest.mark.parametrize(("language", "query"), [("en", "generated bracket (query)"), ("ko", "생성 괄호 (쿼리)")])
def test_axes_of_a_parsers_maps_are_named_after_brackets(maps: AttentionMaps, language: str, query: str) -> None:
    for view in ("head", "layer", "heads", "lines"):
        place = {"maps": maps, "kind": "cross", "language": language}
        figure: Any = VIEWS[view].draw(**place, parse=parser_output())
        plain: Any = VIEWS[view].draw(**place)
        assert figure.query_title == query and query in figure.alt
        assert plain.query_title != query and query not in plain.alt
        assert figure.key_title == plain.key_title
    own: Any = VIEWS["head"].draw(maps=maps, kind="encoder", parse=parser_output())
    assert own.query_title == "source token (query)"


def test_the_command_in_a_file_makes_it_again(parser_checkpoint: Path, tmp_path: Path) -> None:
    """Words are not split again: a closing quote would become an opening one."""
    from transformer_core.cli import main
    from transformer_core.parsing.words import split_words
    from viz_app.cli import PROGRAM

    text, first, again = 'He didn\'t say "no".', tmp_path / "first.json", tmp_path / "again.json"
    start = ["export", f"--checkpoint={parser_checkpoint}", "--beam=2"]
    place = ["--view=tree", "--step=2", "--layer=1", "--head=2", "--confidence=true"]
    assert main([*start, *place, f"--text={text}", f"--out={first}"], PROGRAM) == 0
    content = json.loads(first.read_text(encoding="utf-8"))
    (read,) = parse_trees([content["tree"]])
    assert read.words == split_words(text) and not any(isinstance(child, Leaf) for child in read.children)
    assert 0 < sum(word["weight"] for word in content["words"]) <= 1 + 1e-5
    words = shlex.split(content["provenance"]["command"])[4:]
    own = [word for word in words if not word.startswith(("--checkpoint", "--out", "--beam"))]
    assert main([*start, *own, f"--out={again}"], PROGRAM) == 0
    assert again.read_bytes() == first.read_bytes()


def test_tokens_belong_to_the_words_that_they_come_from(parser_checkpoint: Path) -> None:
    """SentencePiece normalises: of one word it makes tokens with a blank between, of another none."""
    from transformer_core.translator import Translator

    tokenizer = Translator.load(parser_checkpoint).tokenizer
    source = "the \u00a8 telescopes \u200b saw \u00bd \ufb01ve"
    result = ParserOutput.from_tokens(source, (), (), tokenizer)
    assert result is not None and result.words == tuple(source.split())
    encoding = tokenizer.source.encode(source)
    assert len(result.token_words) == len(encoding) and list(result.token_words) == sorted(result.token_words)
    for word, (begin, end) in zip(result.token_words, encoding.spans, strict=True):
        parts = source[begin:end].split()
        assert not parts or parts[-1] in result.words[word]
    assert set(range(len(result.words))) - {*result.token_words} == {3}, "of the zero-width space nothing is left"
    assert ParserOutput.from_tokens("  ", (), (), tokenizer) is None
