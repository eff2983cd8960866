"""The tree as the browser gets it: places of words and brackets, against the core and the text in brackets."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.constituency_parser import ConstituencyParser
from transformer_core.parsing.treebank import parse_trees
from transformer_core.parsing.trees import Tree, escaped
from transformer_core.translator import Translator
from viz_app.serving.models.parse_tree import parse_tree
from viz_app.serving.models.search_tree import branch_translation

SENTENCES = [
    "The dog barked .",
    "I saw the man with the telescope .",
    "Antidisestablishmentarianism does n't bother us , he said .",
    "\U0001f600 \U0001f600 !",
    "</script> ( S XX )S",
]


@pytest.fixture(scope="module")
def parser(parser_checkpoint: Path) -> Translator:
    return Translator.load(parser_checkpoint)


def spans(tree: Tree, begin: int = 0) -> list[tuple[str, int, int]]:
    """Label and words of each constituent, parents first."""
    rows = [(tree.label, begin, begin + len(tree.words))]
    for child in tree.children:
        if isinstance(child, Tree):
            rows += spans(child, begin)
        begin += len(child.words) if isinstance(child, Tree) else 1
    return rows


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_tree_is_that_of_the_core(parser: Translator, sentence: str) -> None:
    best = parser.translate(sentence, beam=4)
    result = parse_tree(best, 0, best, parser)
    expected = ConstituencyParser(parser).parse(sentence, beam=4)
    assert result["text"] == str(expected.tree)
    assert result["repairs"] == expected.repairs
    (tree,) = parse_trees([result["text"]])
    assert result["words"] == sentence.split()
    assert list(map(escaped, result["words"])) == list(map(escaped, tree.words))
    assert [(each["label"], each["begin"], each["end"]) for each in result["nodes"]] in (spans(tree), spans(tree)[1:])
    for each in result["nodes"]:
        if each["parent"] >= 0:
            above = result["nodes"][each["parent"]]
            assert above["begin"] <= each["begin"] and each["end"] <= above["end"]
        for place, bracket in ((each["opening"], "("), (each["closing"], ")")):
            if place is not None and each["label"] != "TOP":
                assert best.tokens[place] == f"{WORD_BOUNDARY}{bracket}{each['label']}"
    for mark in result["marks"]:
        assert mark is None or best.tokens[mark] == f"{WORD_BOUNDARY}XX"


@pytest.mark.parametrize("sentence", SENTENCES)
def test_tokens_of_a_word_are_those_of_its_text(parser: Translator, sentence: str) -> None:
    best = parser.translate(sentence, beam=4)
    result = parse_tree(best, 0, best, parser)
    axis = best.attention.source
    for word, (first, last) in zip(result["words"], result["spans"], strict=True):
        joined = "".join(axis.tokens[first : last + 1]).replace(WORD_BOUNDARY, "")
        assert joined == word or "<unk>" in joined


def test_the_other_hypotheses_are_other_trees(parser: Translator) -> None:
    best = parser.translate(SENTENCES[1], beam=4)
    second = branch_translation(best, 1, parser)
    of_best, of_second = (parse_tree(best, number, shown, parser) for number, shown in enumerate((best, second)))
    plain = [(each["label"], each["begin"], each["end"]) for each in of_second["nodes"]]
    assert next(each["nodes"] for each in of_best["others"] if each["branch"] == 1) == plain
    assert next(each["branch"] for each in of_second["others"]) == 0


def test_a_sequence_that_is_no_tree_is_repaired(parser: Translator) -> None:
    """Half a tree: what is missing has no place among the tokens."""
    best = parser.translate("The dog barked .", beam=4)
    half = replace(best, tokens=best.tokens[:2])
    result = parse_tree(best, 0, half, parser)
    assert result["repairs"]
    there = [place for place, token in enumerate(half.tokens) if token == f"{WORD_BOUNDARY}XX"]
    assert result["marks"] == [*there, *[None] * (4 - len(there))]
    assert all(each["closing"] is None for each in result["nodes"])


def test_a_translator_has_no_tree(random_checkpoint: Path) -> None:
    translator = Translator.load(random_checkpoint)
    best = translator.translate("The dog barked .", beam=2)
    assert parse_tree(best, 0, best, translator) == {}


_LAYOUT = """
import {{ readFileSync }} from "node:fs";
import {{ layoutTree, treeDifference }} from "./components/explorer/js/tree/treelayout.js";
const D3 = {{}};
const library = readFileSync("components/explorer/vendor/d3-hierarchy-3.1.3.min.js", "utf8");
new Function("exports", "module", library)(D3, {{}});
const measure = {{ word: (text) => 8 * text.length, label: (text) => 9 * text.length }};
console.log(JSON.stringify(layoutTree(D3, {tree}, measure, new Set({collapsed}))));
"""


@pytest.mark.parametrize("sentence", SENTENCES)
def test_words_stand_in_one_row_and_labels_above_their_own(
    parser: Translator, javascript: Callable[[str], Any], sentence: str
) -> None:
    best = parser.translate(sentence, beam=4)
    tree = parse_tree(best, 0, best, parser)
    drawn = javascript(_LAYOUT.format(tree=json.dumps(tree), collapsed="[]"))
    words = sorted((item for item in drawn["items"] if item["word"] >= 0), key=lambda item: item["word"])
    assert [item["text"] for item in words] == tree["words"]
    assert {item["y"] for item in words} == {drawn["height"]}
    for one, other in itertools.pairwise(words):
        assert one["x"] + one["width"] / 2 <= other["x"] - other["width"] / 2 + 1e-6
    places = {item["node"]: item for item in drawn["items"] if item["node"] >= 0}
    assert len(places) == len(tree["nodes"])
    for number, node in enumerate(tree["nodes"]):
        own = [words[word]["x"] for word in range(node["begin"], node["end"])]
        assert min(own) - 1e-6 <= places[number]["x"] <= max(own) + 1e-6
        assert node["parent"] < 0 or places[node["parent"]]["y"] < places[number]["y"]
    assert all(item["x"] - item["width"] / 2 + 1e-6 >= 0 for item in drawn["items"] if item["word"] >= 0)


def test_a_collapsed_constituent_is_its_words(parser: Translator, javascript: Callable[[str], Any]) -> None:
    best = parser.translate(SENTENCES[1], beam=4)
    tree = parse_tree(best, 0, best, parser)
    number, node = next((i, each) for i, each in enumerate(tree["nodes"]) if each["label"] == "VP")
    drawn = javascript(_LAYOUT.format(tree=json.dumps(tree), collapsed=f"[{number}]"))
    (whole,) = (item for item in drawn["items"] if item.get("whole") == number)
    assert whole["text"] == "saw the man \u2026 the telescope"
    left = {item["word"] for item in drawn["items"] if item["word"] >= 0}
    assert left == set(range(len(tree["words"]))) - set(range(node["begin"], node["end"]))


def test_differences_count_each_constituent_once(javascript: Callable[[str], Any]) -> None:
    result = javascript(
        'import { treeDifference } from "./components/explorer/js/tree/treelayout.js";\n'
        'const own = [["S", 0, 4], ["NP", 0, 2], ["NP", 0, 2], ["VP", 2, 4]];\n'
        'const other = [["S", 0, 4], ["NP", 0, 2], ["PP", 3, 4], ["VP", 2, 4]];\n'
        "console.log(JSON.stringify(treeDifference(own, other)));\n"
    )
    assert result == {"gone": [["NP", 0, 2]], "come": [["PP", 3, 4]]}
