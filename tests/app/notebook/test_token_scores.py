"""The view of one's own scores: order, colours, and tokens that stay text."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from tests.app.components.test_bertviz_document import HOSTILE
from tests.app.read_html import Page
from tests.hostile import STRINGS
from transformer_core.attention_maps import Axis
from viz_app.notebook.token_scores import token_scores


def sentence(*tokens: str) -> Axis:
    return Axis(tokens, tuple(range(len(tokens))), (False,) * len(tokens))


SENTENCES = [sentence("▁a", "▁b"), sentence("▁un", "real"), sentence("▁c")]
SCORES = [torch.tensor([0.5, -2.0], requires_grad=True), [1.0, 0.0], np.array([-1.0])]


def test_the_highest_score_comes_first_with_its_token() -> None:
    view = token_scores(SCORES, SENTENCES)
    rows = re.findall(r"<tr><td>(.*?)</td><td>(.*?)</td>", view._repr_html_())
    assert rows == [("1", "un"), ("0.5", "a"), ("-1", "c")]
    assert len(re.findall("<tr><td>", token_scores(SCORES, SENTENCES, listed=2).html)) == 2
    assert "<th>점수</th>" in token_scores(SCORES, SENTENCES, language="ko").html


def test_the_colour_has_the_sign_and_the_share_of_the_largest_score() -> None:
    html = token_scores(SCORES, SENTENCES).html
    rgba = r"rgba\((\d+), (\d+), (\d+), ([\d.]+)\)"
    spans = re.findall(f'( ?)<span style="background: {rgba}" title="(.*?)">(.*?)</span>', html)
    assert [(blank, float(alpha), title, token) for blank, _, _, _, alpha, title, token in spans] == [
        (" ", 0.3, "1", "un"),
        ("", 0.0, "0", "real"),
        (" ", 0.15, "0.5", "a"),
        (" ", 0.6, "-2", "b"),
        (" ", 0.3, "-1", "c"),
    ]
    warm = {token: int(red) > int(blue) for _, red, _, blue, _, _, token in spans}
    assert warm == {"un": True, "real": True, "a": True, "b": False, "c": False}


def test_hostile_tokens_stay_text() -> None:
    tokens = [*STRINGS, *HOSTILE]
    page = Page(token_scores([np.arange(len(tokens))], [sentence(*tokens)]).html)
    assert {tag for tag, *_ in page.tags} == {"table", "tr", "th", "td", "span"}


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1.0], [1.0, 2.0], [1.0]], "a score for each of its tokens"),
        ([[1.0, 2.0]], "a score for each of its tokens"),
        ([[[1.0, 2.0]], [1.0, 2.0], [1.0]], "a score for each of its tokens"),
        ([[1.0, float("nan")], [1.0, 2.0], [1.0]], "finite"),
    ],
)
def test_other_numbers_are_refused(scores: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        token_scores(scores, SENTENCES)


def test_nothing_is_an_empty_table() -> None:
    assert "<td>" not in token_scores([], []).html and "<td>" not in token_scores([[]], [sentence()]).html
