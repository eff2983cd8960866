"""The colours of the roles, for readers with deuteranopia."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from viz_app.figures.check import simulate_color_vision
from viz_app.figures.colours.palette import THEMES, lab_of
from viz_app.lessons import heads

LEAST = {"light": 15.0, "dark": 12.0}  # in CIELAB; 2.3 is just noticeable


@pytest.mark.parametrize("theme", THEMES)
def test_no_two_roles_look_alike(theme: str) -> None:
    code = (Path(heads.__file__).parent / "js" / "roles.js").read_text()
    (line,) = re.findall(rf"^  {theme}: {{.*$", code, re.M)
    colours = np.array([list(bytes.fromhex(each)) for each in re.findall("#([0-9a-f]{6})", line)], dtype=np.uint8)
    assert len(colours) == 5
    blind = lab_of(simulate_color_vision(colours, "deuteranopia"))
    assert min(np.linalg.norm(blind[a] - blind[b]) for a, b in combinations(range(5), 2)) > LEAST[theme]
