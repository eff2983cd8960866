"""Reports of the stage, and their form in the address."""

from __future__ import annotations

import json
import re
import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from viz_app.lessons import load_lesson
from viz_app.lessons.stage import LessonState, pack, settings_from_param, settings_to_param

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,15}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200) | st.from_regex(r"[\w.+-]+")
NUMBERS = st.integers(-1000, 1000).map(float)
SETTINGS = st.dictionaries(NAMES, st.booleans() | NUMBERS | TEXTS.map(lambda text: text[:200]), max_size=12)


@given(SETTINGS)
@example({"a": "nan", "b": "inf", "c": "on", "d": "1e5", "e": "1024", "f": "-5", "g": "1_000", "h": "%41"})
@example({f"setting_{letter}{'x' * 6}": "\U0001f600" * 200 for letter in "abcdefghijkl"})
def test_settings_survive_the_address_with_their_types(settings: dict[str, Any]) -> None:
    address = settings_to_param(settings) or ""
    result = settings_from_param(address)
    assert result == settings and [type(result[name]) for name in settings] == [
        type(each) for each in settings.values()
    ]
    assert re.fullmatch(r"[\w.,:~%+-]*", address, re.ASCII), (
        "nothing that a shell, a page or a link could take for more"
    )


NONSENSE = ["", ":", "a", "a:%", "a:%zz", "a:$(x)", "a:nan", "a:inf", "A:1", "1a:2", ",,,", "a:" + "x" * 900, "<b>:1"]


@pytest.mark.parametrize("address", NONSENSE)
def test_an_address_without_sense_is_left_out(address: str) -> None:
    assert settings_from_param(address) == {}


@pytest.mark.parametrize("report", [None, 3, "x", {"scene": 3}, {"scene": "<b>"}, {"scene": "a", "settings": []}])
def test_a_report_without_sense_counts_as_none(report: object) -> None:
    assert LessonState.from_report(report) is None


def test_only_settings_with_sense_are_kept() -> None:
    settings = {"at": 3, "x" * 30: 1, "text": "a" * 900, "list": [1], "nan": float("nan"), "on": True}
    state = LessonState.from_report({"scene": "waves", "settings": settings})
    assert state == LessonState("waves", {"at": 3, "on": True})
    assert state.number("at", 0, 0, 2) == 2
    assert state.number("on", 7, 0, 9) == 7
    assert state.choice("part", "sin", ("sin", "cos")) == "sin"


def test_arrays_arrive_as_they_were() -> None:
    arrays: dict[str, npt.NDArray[Any]] = {
        "a": np.arange(6, dtype=np.uint8).reshape(2, 3),
        "b": np.linspace(0, 1, 5),
        "c": np.array([[1, -2]], dtype=np.int32),
    }
    packed = pack(load_lesson("positions", "en"), values={"n": 1}, arrays=arrays, texts={}, state=LessonState("waves"))
    (length,) = struct.unpack_from("<I", packed)
    header = json.loads(packed[4 : 4 + length])
    assert header["state"] == {"scene": "waves", "settings": {}}
    for name, array in arrays.items():
        entry = header["arrays"][name]
        start = 4 + length + entry["offset"]
        result = np.frombuffer(packed[start:], dtype=entry["type"], count=array.size).reshape(entry["shape"])
        np.testing.assert_allclose(result, array, rtol=1e-7)


def test_the_same_numbers_have_the_same_name_wherever_one_starts() -> None:
    def name_of(state: LessonState, value: int) -> str:
        packed = pack(load_lesson("positions", "en"), values={"n": value}, arrays={}, texts={}, state=state)
        (length,) = struct.unpack_from("<I", packed)
        return str(json.loads(packed[4 : 4 + length])["id"])

    assert name_of(LessonState("waves"), 1) == name_of(LessonState("waves", {"at": 3}), 1)
    assert name_of(LessonState("waves"), 1) != name_of(LessonState("waves"), 2)


def test_a_choice_of_numbers_survives_the_address() -> None:
    linked = LessonState("costs", settings_from_param("d:1024,r:64,on:on"))
    assert linked.choice("d", "512", ("128", "512", "1024")) == "1024"
    assert linked.choice("r", "512", ("128", "512")) == "512"
    assert linked.choice("on", "512", ("128", "512")) == "512"
