"""The words for roles: every rule and every relation has its own, in both languages."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from transformer_core.atlas.naming import Role
from transformer_core.atlas.patterns import PATTERNS
from transformer_core.attention_maps import Kind
from viz_app.text import texts
from viz_app.text.role_words import head_words, plain_words, role_words

# Those of Universal Dependencies 2 that have a head among the words.
RELATIONS = re.findall(
    r"\w+",
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed "
    "flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum vocative xcomp",
)
DIRECTIONS = "to_head", "to_dependent"


def role(name: str, detail: str = "") -> Role:
    return Role(name=name, detail=detail, value=0.8, low=0.7, high=0.9, baseline=0.2, places=100, q=0.001)


@pytest.mark.parametrize("kind", PATTERNS)
def test_every_rule_of_a_kind_has_words_of_its_own(kind: Kind, language: str) -> None:
    rules = [role(name) for name in PATTERNS[kind]]
    if kind == "cross":
        rules += [role("aligner", "output"), role("aligner", "input")]
    words = [role_words(texts(language), kind, each) for each in rules]
    assert len(set(words)) == len(rules)
    assert not [each for each in words if re.search("[{}_]", each)]


def test_every_relation_has_words_of_its_own_in_each_direction(language: str) -> None:
    t = texts(language)
    for direction in DIRECTIONS:
        words = {name: role_words(t, "encoder", role("link", f"{name} {direction}")) for name in RELATIONS}
        there = {name for name in RELATIONS if f"link_{name}_{direction}" in t.table("roles")}
        assert {"nsubj", "obj", "amod", "det"} <= there
        assert all(name in words[name] for name in RELATIONS if name not in there)  # by its own name
        assert not [each for each in words.values() if re.search("[{}]", each)]
    unsaid = {f"link_{name}_{direction}" for name in RELATIONS for direction in DIRECTIONS}
    said = {key for key in t.table("roles") if re.fullmatch(r"link_\w+_to_\w+", key)}
    assert said <= unsaid  # no label for a relation that does not exist


def test_what_they_say() -> None:
    en = texts("en")
    assert role_words(en, "encoder", role("offset-1")) == "looks at the previous token"
    assert role_words(en, "cross", role("offset-1")) == "looks one position earlier in the source"
    assert role_words(en, "encoder", role("link", "obj to_head")) == "links an object to its verb"
    assert role_words(en, "encoder", role("link", "obj to_dependent")) == "links a verb to its object"
    assert "orphan" in role_words(en, "encoder", role("link", "orphan to_head"))
    assert role_words(texts("ko"), "encoder", role("link", "obj to_head")) == "목적어에서 그 동사 쪽을 봄"


@pytest.mark.parametrize(("language", "none"), [("en", "no clear role"), ("ko", "뚜렷한 역할 없음")])
def test_no_clear_role_is_said_so(language: str, none: str) -> None:
    assert head_words(texts(language), "encoder", ()) == none


@pytest.mark.parametrize(("language", "tied"), [("en", "cannot be told apart"), ("ko", "구별되지 않음")])
def test_the_first_role_names_a_head_with_all_that_cannot_be_told_apart(language: str, tied: str) -> None:
    t = texts(language)
    end, separator, copy = (role_words(t, "cross", role(name)) for name in ("end", "separator", "copy"))
    assert head_words(t, "cross", (role("end"), role("separator"))) == f"{end} / {separator} ({tied})"
    clearly = replace(role("copy"), value=0.5, low=0.45, high=0.55)
    assert head_words(t, "cross", (role("end"), clearly)) == end
    assert head_words(t, "cross", (clearly,)) == copy


@pytest.mark.parametrize(
    ("low", "often"), [(0.95, "almost always"), (0.6, "usually"), (0.35, "often"), (0.2, "sometimes")]
)
def test_a_role_is_stated_as_strongly_as_its_interval_allows(low: float, often: str) -> None:
    result = replace(role("offset-1"), low=low, value=0.97, high=0.99)
    assert plain_words(texts("en"), "encoder", (result,)) == f"{often} looks at the previous token"
    assert plain_words(texts("en"), "encoder", ()) == "no clear role"
    aligners = tuple(replace(result, name="aligner", detail=detail) for detail in ("output", "input"))
    unsure = plain_words(texts("en"), "cross", aligners)
    assert unsure.startswith(f"{often} ") and "cannot be told apart" in unsure


def test_in_korean_the_adverb_stands_before_the_verb() -> None:
    often = replace(role("aligner", "output"), low=0.35)
    assert plain_words(texts("ko"), "cross", (often,)) == "생성 중인 토큰에 대응하는 원문 단어를 자주 봄"
    both = plain_words(texts("ko"), "cross", (often, replace(often, detail="input")))
    assert both.endswith("자주 봄 / 방금 읽은 토큰에 대응하는 원문 단어를 자주 봄 (구별되지 않음)")
