"""Former names, still understood: keys of files, and modules and functions that README or docs have shown."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

KEYS = {  # in files, addresses and on the command line: former name -> name
    "max_pieces": "max_tokens",
    "max_source_pieces": "max_source_tokens",
    "piece": "token",
    "pieces": "tokens",
    "source_pieces": "source_tokens",
    "target_pieces": "target_tokens",
}


def current_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values under the current names of their keys."""
    return {KEYS.get(name, name): value for name, value in values.items()}


_PACKAGE = "transformer_core"
MODULES = {  # former module -> former name of a function or class -> where it is now
    "edits": {name: f"hooks.edits.{name}" for name in ("ablate_heads", "knock_out", "mean_head_outputs")},
    "hook_list": {"describe_hook_points": "hooks.hook_list.describe_hook_points"},
    "presets": {"preset": "paper.presets.preset"},
    "analysis.atlas.naming": {"head_roles": "atlas.naming.head_roles"},
    "analysis.atlas.storage": {"load_atlas": "atlas.storage.load_atlas"},
    "analysis.atlas.measures": {"measures": "atlas.measures.measures"},
}


class FormerModules(MetaPathFinder, Loader):
    """Imports of former modules, with a DeprecationWarning for each name that is taken from one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, if it is a former one."""
        package, _, name = fullname.partition(".")
        former = package == _PACKAGE and any(f"{module}.".startswith(f"{name}.") for module in MODULES)
        return spec_from_loader(fullname, self, is_package=True) if former else None

    def exec_module(self, module: ModuleType) -> None:
        """Let the names be looked up when they are taken."""
        former = MODULES.get(module.__name__.partition(".")[2], {})

        def find(name: str) -> object:
            if name not in former:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            home, _, current = f"{_PACKAGE}.{former[name]}".rpartition(".")
            warnings.warn(f"{module.__name__}.{name} is now {home}.{current}", DeprecationWarning, stacklevel=2)
            return getattr(importlib.import_module(home), current)

        module.__dict__.update(__getattr__=find, __all__=list(former))


def install() -> None:
    """Make former modules importable."""
    if not any(isinstance(finder, FormerModules) for finder in sys.meta_path):
        sys.meta_path.append(FormerModules())
