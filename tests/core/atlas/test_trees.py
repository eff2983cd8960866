"""CoNLL-U: multi-word tokens, empty nodes, missing text; and broken files, each refused with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from transformer_core.atlas.links import DIRECTIONS, tree_counts
from transformer_core.atlas.trees import RELATIONS, Tree, read_trees
from transformer_core.data import DataError

TEXT = """# sent_id = 1
# text = I don't du it.
1\tI\tI\tPRON\tPRP\t_\t4\tnsubj\t4:nsubj\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t4:aux\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t4:advmod\t_
3.1\tempty\t_\t_\t_\t_\t_\t_\t4:dep\t_
4-5\tdu\t_\t_\t_\t_\t_\t_\t_\t_
4\tde\tde\tVERB\tVB\t_\t0\troot\t0:root\t_
5\tle\tle\tDET\tDT\t_\t6\tdet\t6:det\t_
6\tit\tit\tPRON\tPRP\t_\t4\tobj:x\t4:obj\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t4\tpunct\t4:punct\t_

"""


def read(tmp_path: Path, text: str) -> list[Tree]:
    file = tmp_path / "trees.conllu"
    file.write_text(text, encoding="utf-8")
    return list(read_trees(file))


def test_words_that_are_written_together_share_the_characters_that_are_theirs(tmp_path: Path) -> None:
    for text in (TEXT, TEXT.replace("# text = I don't du it.\n", ""), TEXT.rstrip("\n"), TEXT.replace("\n", "\r\n")):
        (tree,) = read(tmp_path, text)
        assert tree.text == "I don't du it."
        shown = [None if word is None else tree.text[slice(*word)] for word in tree.words]
        assert shown == ["I", "do", "n't", None, None, "it", "."]
        assert tree.heads == (3, 3, 3, -1, 5, 3, 3)
        assert tree.relations == ("nsubj", "aux", "advmod", "root", "det", "obj", "punct")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("\t4\tnsubj\t4:nsubj\t_", "\t4\tnsubj", r"line 3: 8 columns, but CoNLL-U has 10"),
        ("1\tI\t", "x\tI\t", "line 3: .*'x' is not a valid ID"),
        ("\t4\tnsubj", "\t9\tnsubj", "line 3: head 9 is no other word"),
        ("\t4\tnsubj", "\t1\tnsubj", "line 3: head 1 is no other word"),
        ("\t4\tnsubj", "\tfour\tnsubj", "line 3: .*'four'"),
        ("\t4\tnsubj", "\t4\tsubject", "line 3: 'subject' with head 4 is no relation"),
        ("\t0\troot", "\t0\tobj", "line 11: 'obj' with head 0"),
        ("6\tit\t", "8\tit\t", "line 13: word 8 comes after word 5"),
        ("2-3\t", "3-4\t", "line 4: token 3-4 comes after word 1"),
        ("du it", "du them", "line 13: 'it' is not what the text has next: ' them.'"),
        ("du it", "du", "line 13: 'it' is not what"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, old: str, new: str, reason: str) -> None:
    if "line 11" in reason:
        reason = reason.replace("line 11", "line 9")
    if "line 13" in reason:
        reason = reason.replace("line 13", "line 11")
    assert old in TEXT
    with pytest.raises(DataError, match=reason):
        read(tmp_path, TEXT.replace(old, new, 1))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 1: a sentence has no words"):
        read(tmp_path, "# text = nothing\n\n")
    with pytest.raises(DataError, match="more than 2,000 lines"):
        read(tmp_path, "# x\n" * 2_001)
    (tmp_path / "bytes.conllu").write_bytes(b"\xff\xfe\n")
    with pytest.raises(DataError, match="not UTF-8"):
        list(read_trees(tmp_path / "bytes.conllu"))
    assert read(tmp_path, "") == []


def test_counts_are_those_of_a_literal_loop() -> None:
    """Drawn weights and a tree with a word that has no tokens."""
    tree = Tree("", (None,) * 5, (1, -1, 1, 1, 2), ("nsubj", "root", "obj", "obj", "amod"))
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights = rng.random((2, 3, 5, 5))
        weights[:, :, 3] = np.nan  # word 3 has no tokens
        weights[:, :, :, 3] = 0.0
        hits, places, _, _ = tree_counts(weights, tree)
        for layer in range(2):
            for head in range(3):
                expected = dict.fromkeys([(d, r) for d in DIRECTIONS for r in RELATIONS], 0)

                rows = weights[layer, head].tolist()
                best = {word: max((0, 1, 2, 4), key=rows[word].__getitem__) for word in (0, 1, 2, 4)}
                for word in (0, 2, 4):
                    expected["to_head", tree.relations[word]] += best[word] == tree.heads[word]
                expected["to_dependent", "nsubj"] += best[1] == 0
                expected["to_dependent", "obj"] += best[1] == 2
                expected["to_dependent", "amod"] += best[2] == 4
                for (direction, relation), count in expected.items():
                    at = DIRECTIONS.index(direction), RELATIONS.index(relation), layer, head
                    assert hits[at] == count, (direction, relation)
        assert places.sum() == 6
