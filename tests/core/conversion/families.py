"""All families and variants whose twins the tests convert, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.core.conversion.bart_twins import bart_twin
from tests.core.conversion.language_twins import LANGUAGES, language_twin
from tests.core.conversion.marian_twins import VARIANTS, marian_twin
from tests.core.conversion.twins import Twin

TWINS: dict[str, Callable[[Path], Twin]] = {
    **{f"marian: {name}": partial(marian_twin, name=name) for name in VARIANTS},
    **{name: partial(language_twin, family=name) for name in LANGUAGES},
    "bart": bart_twin,
}
ONE_EACH = ("marian: many languages", *LANGUAGES, "bart")
