"""The filter of the atlas: heads that survive the control, or in an older atlas those whose effect differs from 0."""

from __future__ import annotations

import pytest

from tests.atlas_samples import drawn_atlas, with_controls
from transformer_core.atlas.naming import head_roles
from transformer_core.attention_maps import KINDS
from viz_app.components.atlas.payload import pack
from viz_app.components.buffer import split_buffer
from viz_app.text import texts
from viz_app.text.role_words import head_words


@pytest.mark.parametrize("controlled", [False, True])
def test_the_filter_names_and_holds_what_was_tested(controlled: bool) -> None:
    atlas, t = drawn_atlas(), texts("ko")
    if controlled:
        atlas = with_controls(atlas)
    header, _ = split_buffer(pack(atlas, head_roles(atlas), t, start={}))
    assert header["texts"]["significant"] == t("atlas.survives" if controlled else "atlas.significant")
    assert atlas.effects
    for kind in KINDS:
        wanted = atlas.effects.q["mean/random-mean" if controlled else "mean"][kind] <= 0.05
        if controlled:
            wanted &= atlas.effects.differences["mean/random-mean"][kind].value > 0
        assert header["significant"][kind] == wanted.ravel().tolist()
        assert wanted.sum() < wanted.size


def test_a_head_is_named_by_its_first_roles(language: str) -> None:
    atlas, t = drawn_atlas(), texts(language)
    roles = head_roles(atlas)
    header, _ = split_buffer(pack(atlas, roles, t, start={}))
    for kind in KINDS:
        expected = [head_words(t, kind, found) for head, found in roles.items() if head[0] == kind]
        assert header["names"][kind] == expected


def test_the_share_of_an_aligner_is_its_error_rate() -> None:
    atlas = drawn_atlas()
    header, _ = split_buffer(pack(atlas, head_roles(atlas), texts("en"), start={}))
    assert atlas.align
    shown = [
        (role["label"].split()[1], head, role)
        for head, roles in enumerate(header["roles"]["cross"])
        for role in roles
        if role["label"].startswith("aligner")
    ]
    assert shown
    for name, head, role in shown:
        rows = atlas.align.rows[name]
        assert role["value"] == pytest.approx(rows.error.value.ravel()[head], abs=1e-5)
        assert role["baseline"] == pytest.approx(min(rows.fixed, rows.uniform), abs=1e-5)
