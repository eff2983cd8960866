"""What the command `derived` can build from a model: one module for each, which holds its `BUILDER`.

A new one is a file here and its name in `NAMES`. Its results stand in `derived/`, known by the model's `weights_hash`.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer_core.translator import Translator

NAMES = ("scores", "forced", "alignment", "probes", "history", "card")  # in this order: the card tells of the scores


class SkippedError(Exception):
    """There is nothing to build from, in words for the user."""


@dataclass(kw_only=True)
class Inputs:
    """What builders work from.

    Args:
        checkpoint: The checkpoint's folder.
        options: What was given on the command line.
        device: Where to compute.
        metrics: All that is known of the model, which the builders before may have added to.
    """

    checkpoint: Path
    options: argparse.Namespace
    device: str
    metrics: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def translator(self) -> Translator:
        """The model, loaded when the first builder asks for it."""
        from transformer_core.translator import Translator

        return Translator.load(self.checkpoint, self.device)


@dataclass(frozen=True, kw_only=True)
class Builder:
    """One thing that can be derived from a model.

    Args:
        name: As --only takes it.
        about: What it is, for the help.
        needs: Options of which at least one must be given; every one of these groups.
        files: Names of what it makes, in `derived/`.
        build: Contents by name. Raises SkippedError.
        beside: The files stand in the checkpoint's own folder instead, as the model card does.
    """

    name: str
    about: str
    needs: tuple[tuple[str, ...], ...]
    files: tuple[str, ...]
    build: Callable[[Inputs], Mapping[str, bytes]]
    beside: bool = False

    def missing(self, options: argparse.Namespace) -> str:
        """The options that it cannot do without and that were not given; empty when it has all."""
        lacking = [group for group in self.needs if not any(getattr(options, name) for name in group)]
        return ", ".join(" or ".join(f"--{name}" for name in group) for group in lacking)


def builders() -> dict[str, Builder]:
    """All builders by name, in the order in which they run."""
    return {name: importlib.import_module(f"{__name__}.{name}").BUILDER for name in NAMES}
