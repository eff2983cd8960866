"""Memory of values that caches keep."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import torch

from viz_app.serving.memory_size import memory_size


@dataclass(frozen=True)
class _Pair:
    array: object
    words: object


def test_arrays_count_to_the_byte_wherever_they_are() -> None:
    array = np.zeros((100, 10), dtype=np.float32)
    assert memory_size(array) == 4000
    assert memory_size(torch.zeros(7, dtype=torch.float64)) == 56
    for nested in ([array], (array,), {"a": array}, _Pair(array, ()), [{"a": (_Pair((), [array]),)}]):
        assert 4000 < memory_size(nested) < 5000
    assert memory_size([array, array[:50]]) - memory_size([array]) >= 2000


def test_words_and_numbers_count_as_python_keeps_them() -> None:
    assert memory_size("x" * 1000) == sys.getsizeof("x" * 1000)
    assert memory_size(["x" * 1000, 1]) == sys.getsizeof(["", 1]) + sys.getsizeof("x" * 1000) + sys.getsizeof(1)
    numbers = [0.5 + number for number in range(1000)]
    assert memory_size([numbers]) == sys.getsizeof([0]) + sys.getsizeof(numbers) + 1000 * sys.getsizeof(0.5)
    assert memory_size([1, "x" * 1000]) > 1000
    assert memory_size({"key": "x" * 1000}) > memory_size({}) + 1000
    assert memory_size(frozenset({"x" * 1000})) > 1000
