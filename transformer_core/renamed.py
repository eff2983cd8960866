"""Former names, still understood: keys of files, and Python names that README or docs have shown."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

KEYS = {  # in files, addresses and on the command line: former name -> name
    "careless_share": "typo_rate",
    "max_pieces": "max_tokens",
    "max_source_pieces": "max_source_tokens",
    "piece": "token",
    "pieces": "tokens",
    "source_pieces": "source_tokens",
    "target_pieces": "target_tokens",
}


def current_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values under the current names of their keys."""
    return {KEYS.get(name, name): value for name, value in values.items()}


_PACKAGE = "transformer_core"
MODULES = {  # former module, with all inside it -> where it is now
    "analysis.atlas": "atlas",
    "analysis.forced_run": "analysis.teacher_forced_run",
    "analysis.head_effects": "analysis.effects.head_effects",
    "analysis.head_faithfulness": "analysis.effects.cumulative_ablation",
    "analysis.part_effects": "analysis.effects.part_effects",
    "analysis.redirect": "analysis.attention_override",
    "analysis.score_parts": "analysis.score_decomposition",
    "analysis.staircase": "analysis.effects.cumulative_ablation",
    "edits": "hooks.edits",
    "hook_list": "hooks.hook_list",
    "model": "model.transformer",
    "presets": "paper.presets",
}
NAMES = {  # former name of a function or class in such a module -> its name
    "ForcedRun": "TeacherForcedRun",
    "Redirect": "AttentionOverride",
    "ScoreParts": "ScoreDecomposition",
    "Staircase": "CumulativeAblation",
    "even": "uniform_row",
    "forced_run": "teacher_forced_run",
    "redirect": "override_attention",
    "score_parts": "decompose_score",
    "staircase": "cumulative_ablation",
    "write_on": "continue_decoding",
}


class Alias:
    """Attribute of a class under its former name: warns, and gives the current one."""

    def __init__(self, current: str) -> None:
        self._current = current
        self._former = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._former = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        warnings.warn(f"{self._former} is now {owner.__name__}.{self._current}", DeprecationWarning, stacklevel=2)
        return getattr(instance, self._current)


def names_of(former: str, only: Sequence[str] = ()) -> Callable[[str], Any]:
    """Return the `__getattr__` of a former module; `only` some names where it is a package today."""
    home = next(now + former[len(was) :] for was, now in MODULES.items() if f"{former}.".startswith(f"{was}."))

    def find(name: str) -> Any:
        current = NAMES.get(name, name)
        found = None
        if not name.startswith("__") and (not only or name in only):
            found = getattr(importlib.import_module(f"{_PACKAGE}.{home}"), current, None)
        if found is None:
            raise AttributeError(f"module {_PACKAGE}.{former} has no attribute {name!r}")
        message = f"{_PACKAGE}.{former}.{name} is now {_PACKAGE}.{home}.{current}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return found

    return find


class FormerModules(MetaPathFinder, Loader):
    """Imports of former modules, with a DeprecationWarning for each name that is taken from one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a former module that still exists elsewhere."""
        package, _, name = fullname.partition(".")
        for was, now in MODULES.items() if package == _PACKAGE else ():
            if f"{name}.".startswith(f"{was}."):
                try:
                    exists = importlib.util.find_spec(f"{_PACKAGE}.{now}{name[len(was) :]}")
                except ModuleNotFoundError:  # a module has nothing inside it
                    return None
                return importlib.util.spec_from_loader(fullname, self, is_package=True) if exists else None
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Let the names be looked up when they are taken."""
        module.__dict__["__getattr__"] = names_of(module.__name__.partition(".")[2])


def install() -> None:
    """Make former modules importable."""
    if not any(isinstance(finder, FormerModules) for finder in sys.meta_path):
        sys.meta_path.append(FormerModules())
