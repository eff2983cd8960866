"""Roles of heads: hand-made maps whose roles are known, and links against hiding tokens one by one."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch

from transformer_core.analysis.roles import (
    ROLES_OF,
    find_roles,
    lower_bound,
    occlusion_drops,
    occlusion_links,
    role_keys,
)
from transformer_core.attention_maps import AttentionMaps, Kind
from transformer_core.text.tokenizer import axis
from transformer_core.translator import Translator

SOURCE = axis(("▁a", "▁b", "▁c", "."), end=True)  # a b c . </s>
INPUTS = axis(("▁x", "▁y", "▁z"), start=True)  # <s> x y z
OUTPUTS = axis(("▁x", "▁y", "▁z"), end=True)  # x y z </s>
LINKS = np.array([[0, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1]], dtype=bool)


def looking(*keys: int, width: int, strength: float = 0.6) -> npt.NDArray[np.float32]:
    """A head whose query i gives `strength` to keys[i], and the rest to all other keys alike."""
    weights = np.full((len(keys), width), (1 - strength) / (width - 1), dtype=np.float32)
    weights[np.arange(len(keys)), keys] = strength
    return weights


def sentence() -> AttentionMaps:
    encoder = [
        looking(0, 0, 1, 2, 3, width=5),  # previous
        looking(1, 2, 3, 4, 4, width=5),  # next
        looking(0, 1, 2, 3, 4, width=5),  # itself
        looking(3, 4, 4, 0, 0, width=5),  # separators
    ]
    decoder = np.zeros((4, 4, 4), dtype=np.float32)
    for head, keys in enumerate(((0, 0, 1, 2), (0, 1, 2, 3), (0, 0, 0, 0), (0, 1, 0, 3))):
        decoder[head, np.arange(4), keys] = 1.0
    cross = [looking(2, 1, 0, 0, width=5), looking(4, 3, 4, 4, width=5)]
    return AttentionMaps(
        encoder=np.stack(encoder)[None],
        decoder=decoder[None],
        cross=np.stack(cross)[None],
        source=SOURCE,
        inputs=INPUTS,
        outputs=OUTPUTS,
    )


@pytest.mark.parametrize(
    ("kind", "head", "role", "places"),
    [
        ("encoder", 0, "previous", 2),  # b, c; the full stop is no query, and a has nobody before it
        ("encoder", 1, "next", 2),  # a, b; what comes after c is a separator
        ("encoder", 2, "self", 3),
        ("encoder", 3, "separator", 3),
        ("decoder", 0, "previous", 2),  # y, z; before x stands <s>
        ("decoder", 1, "self", 3),
        ("decoder", 2, "separator", 3),
        ("cross", 0, "aligner", 2),  # x, y; z has no link, and </s> is a separator
        ("cross", 1, "separator", 3),
    ],
)
def test_a_head_made_for_a_role_has_it(kind: Kind, head: int, role: str, places: int) -> None:
    table = find_roles([sentence(), sentence()], kind, [LINKS, LINKS] if kind == "cross" else None)
    result = table.likeliest(0, head)
    assert (result.role, result.share, result.places) == (role, 1.0, 2 * places)
    assert result.named
    assert table.best(result.role) == result


def test_a_head_that_fits_now_and_then_bears_no_name() -> None:
    # x looks at itself, y at <s>, z at itself: two of three places are its own, and one is a separator.
    table = find_roles([sentence()], "decoder")
    own, apart = table.of("self", 0, 3), table.of("separator", 0, 3)
    assert (own.share, apart.share) == pytest.approx((2 / 3, 1 / 3))
    assert own.named and not apart.named
    # Equal attention: x sees 2 keys, y 3, z 4.
    assert own.chance == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)
    assert not own.leans  # three places prove nothing
    assert find_roles([sentence()] * 40, "decoder").of("self", 0, 3).leans
    assert table.of("previous", 0, 0).weight == 1.0
    assert find_roles([sentence()], "encoder").of("self", 0, 2).weight == pytest.approx(0.6)


@pytest.mark.parametrize(("hits", "places"), [(5, 5), (3, 7), (70, 84), (1, 200)])
def test_the_interval_is_wilsons(hits: int, places: int) -> None:
    """Its end is the smallest share p from which the share found is no more than 1.96 standard errors of p away."""
    bound = lower_bound(hits, places)
    assert 0 < bound < hits / places
    assert hits / places - bound == pytest.approx(1.96 * math.sqrt(bound * (1 - bound) / places))
    assert lower_bound(0, 5) == lower_bound(0, 0) == 0.0


def test_wrong_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="'next', but decoder heads have previous, self, separator"):
        role_keys(sentence(), "decoder", "next")
    with pytest.raises(ValueError, match=r"links of shape \(4, 5\), but there are none"):
        role_keys(sentence(), "cross", "aligner")
    with pytest.raises(ValueError, match="no sentences"):
        find_roles([], "encoder")
    assert "aligner" not in find_roles([sentence()], "cross").roles
    with pytest.raises(ValueError, match="role is 'aligner'"):
        find_roles([sentence()], "cross").of("aligner", 0, 0)
    assert set(ROLES_OF) == {"encoder", "decoder", "cross"}


def test_hiding_a_token_is_what_a_model_without_it_would_say(random_checkpoint: Path) -> None:
    translator = Translator.load(random_checkpoint)
    text = "A man rides a bicycle."
    source, target = translator.encode(text), translator.encode_target("Ein Mann").ids
    drops = occlusion_drops(translator, source, target)
    special, model = translator.tokenizer.special, translator.model
    ids = torch.tensor([[*source.ids, special.eos]])
    inputs = torch.tensor([[special.bos, *target]])
    outputs = [*target, special.eos]
    assert drops.shape == (len(outputs), ids.shape[1])
    with torch.no_grad():
        for hidden in range(ids.shape[1]):
            scores = []
            for seen in (torch.ones_like(ids, dtype=torch.bool), torch.arange(ids.shape[1])[None] != hidden):
                memory = model.encode(ids, seen[:, None, None, :])
                logits = model.logits(model.decode(inputs, memory, seen[:, None, None, :]))
                scores.append(torch.log_softmax(logits[0], -1)[torch.arange(len(outputs)), outputs])
            wanted = (scores[0] - scores[1]).numpy() if hidden < ids.shape[1] - 1 else np.zeros(len(outputs))
            np.testing.assert_allclose(drops[:, hidden], wanted, atol=2e-5)
    np.testing.assert_array_equal(occlusion_drops(translator, source, target, finished=False), drops[:-1])
    middle = float(np.median(drops.max(axis=1)))
    links = occlusion_links(translator, source, target, min_drop=middle)
    assert 0 < links.sum() < len(links)
    for row, drop in zip(links, drops, strict=True):
        assert row.tolist() == [drop.max() >= middle and key == drop.argmax() for key in range(len(drop))]
