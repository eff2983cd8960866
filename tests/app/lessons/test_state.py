"""What the stage reports, and how it stands in the address."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz_app.components.lesson import LessonState, from_address, pack, to_address
from viz_app.lessons import lesson

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,15}", fullmatch=True)
WORDS = st.from_regex(r"[a-z]{1,20}", fullmatch=True).filter(
    lambda word: word not in ("on", "off", "nan", "inf", "infinity")
)
SETTINGS = st.dictionaries(NAMES, st.booleans() | st.integers(-1000, 1000).map(float) | WORDS, max_size=12)


@given(SETTINGS)
def test_settings_survive_the_address(settings: dict[str, Any]) -> None:
    assert from_address(to_address(settings) or "") == settings


@pytest.mark.parametrize("address", ["", ":", "a", "a:nan", "a:inf", "A:1", "1a:2", ",,,", "a:" + "x" * 900, "<b>:1"])
def test_an_address_without_sense_is_left_out(address: str) -> None:
    assert from_address(address) == {}


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
    packed = pack(lesson("positions", "en"), values={"n": 1}, arrays=arrays, texts={}, state=LessonState("waves"))
    (length,) = struct.unpack_from("<I", packed)
    header = json.loads(packed[4 : 4 + length])
    assert header["state"] == {"scene": "waves", "settings": {}}
    for name, array in arrays.items():
        told = header["arrays"][name]
        start = 4 + length + told["offset"]
        found = np.frombuffer(packed[start:], dtype=told["type"], count=array.size).reshape(told["shape"])
        np.testing.assert_allclose(found, array, rtol=1e-7)


def test_the_same_numbers_have_the_same_name_wherever_one_starts() -> None:
    def name_of(state: LessonState, value: int) -> str:
        packed = pack(lesson("positions", "en"), values={"n": value}, arrays={}, texts={}, state=state)
        (length,) = struct.unpack_from("<I", packed)
        return str(json.loads(packed[4 : 4 + length])["id"])

    assert name_of(LessonState("waves"), 1) == name_of(LessonState("waves", {"at": 3}), 1)
    assert name_of(LessonState("waves"), 1) != name_of(LessonState("waves"), 2)


def test_a_choice_of_numbers_survives_the_address() -> None:
    linked = LessonState("crossover", from_address("d:1024,r:64,on:on"))
    assert linked.choice("d", "512", ("128", "512", "1024")) == "1024"
    assert linked.choice("r", "512", ("128", "512")) == "512"
    assert linked.choice("on", "512", ("128", "512")) == "512"
