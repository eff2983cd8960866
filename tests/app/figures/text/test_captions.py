from __future__ import annotations

import dataclasses

import pytest

from transformer_core.attention_maps import KINDS, AttentionMaps
from viz_app.figures.build.request import Request
from viz_app.figures.model.figure import display_label
from viz_app.figures.text.captions import (
    MAX_LABEL,
    all_caption,
    head_alt,
    head_caption,
    layer_caption,
    percent,
    strongest_links,
)


def test_the_strongest_content_link_leaves_special_tokens_out(hand_made: AttentionMaps) -> None:
    """The largest weight of all, 0.9, lies on </s>."""
    links = strongest_links(hand_made, "cross", 0, 0)
    assert [(link.query, link.key, round(link.weight, 2)) for link in links] == [
        ("Hund", "dog", 0.81),
        ("der", "the", 0.6),
    ]


def test_captions_say_what_the_weights_say(hand_made: AttentionMaps) -> None:
    caption = head_caption(hand_made, "cross", 0, 0)
    assert caption.text == "Generating \u201cHund\u201d: head cross.1.1 attends to \u201cdog\u201d (81 %)."
    korean = head_caption(hand_made, "cross", 0, 0, language="ko")
    assert korean.text == "\u201cHund\u201d 생성: cross.1.1 헤드는 어텐션의 81%를 \u201cdog\u201d 쪽에 둡니다."


def test_the_most_telling_link_is_that_of_a_whole_content_word(hand_made: AttentionMaps) -> None:
    """Name the noun, however sharp the article; not where it is part of a word, or copied."""
    assert hand_made.outputs.tokens == ("\u2581der", "\u2581Hund", "</s>")

    def told(maps: AttentionMaps) -> str:
        return head_caption(maps, "cross", 0, 0).text.split("\u201c")[1].split("\u201d")[0]

    cross = hand_made.cross.copy()
    cross[0, 0, 0] = (0.95, 0.0, 0.05)
    sharp = dataclasses.replace(hand_made, cross=cross)
    assert told(sharp) == "Hund"
    part = dataclasses.replace(sharp.outputs, words=(0, 0, 1))
    assert told(dataclasses.replace(sharp, outputs=part)) == "der"
    copied = dataclasses.replace(sharp.source, tokens=("\u2581the", "\u2581Hund", "</s>"))
    assert told(dataclasses.replace(sharp, source=copied)) == "der"


def test_a_head_that_rests_is_told(hand_made: AttentionMaps) -> None:
    """(0.8 + 0.7 + 0.6) / 3 of head 2 goes to </s>."""
    text = head_caption(hand_made, "cross", 0, 1).text
    assert text.endswith("On average, 70 % of its attention goes to \u201c</s>\u201d.")


def test_decoder_captions_name_input_and_output(hand_made: AttentionMaps) -> None:
    text = head_caption(hand_made, "decoder", 0, 0).text
    assert text.startswith(
        "After reading \u201cder\u201d, generating \u201cHund\u201d: head decoder.1.1 attends to itself (70 %)."
    )
    assert "50 %" in layer_caption(hand_made, "decoder", 0).text  # "itself" is not a link between two tokens


def test_captions_of_several_heads_name_the_sharpest(hand_made: AttentionMaps) -> None:
    for caption in (layer_caption(hand_made, "cross", 0), all_caption(hand_made, "cross")):
        assert caption.text.endswith(
            "Head cross.1.1 has the strongest link: \u201cHund\u201d to \u201cdog\u201d, 81 %."
        )


def test_alt_text_names_kind_axes_and_links(hand_made: AttentionMaps) -> None:
    alt = head_alt(Request(maps=hand_made, kind="cross").attention, 0, 0)
    assert alt == (
        "Heat map, encoder-decoder attention, head cross.1.1. 3 rows: generated token (query). 3 columns: "
        "source token (key). Strongest links: \u201cHund\u201d to \u201cdog\u201d 81 %, "
        "\u201cder\u201d to \u201cthe\u201d 60 %."
    )


def test_a_token_stands_as_it_is_whatever_it_holds(hostile: AttentionMaps) -> None:
    for kind in KINDS:
        for head in range(2):
            caption = head_caption(hostile, kind, 0, head)
            tokens = [segment.text for segment in caption.segments if segment.token]
            axes = (hostile.source, hostile.inputs, hostile.outputs)
            assert tokens and set(tokens) <= {display_label(token, MAX_LABEL) for axis in axes for token in axis.tokens}
            assert all(f"\u201c{token}\u201d" in caption.text for token in tokens)


def test_a_map_of_nothing_but_special_tokens_still_has_a_caption(hostile: AttentionMaps) -> None:
    from viz_app.figures import upto_step

    assert head_caption(upto_step(hostile, 1), "decoder", 0, 0).text


@pytest.mark.parametrize(("weight", "expected"), [(0.812, "81"), (1.0, "100"), (0.002, "< 1"), (0.0, "0")])
def test_percentages(weight: float, expected: str) -> None:
    assert percent(weight) == expected
