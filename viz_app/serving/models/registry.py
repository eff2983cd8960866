"""Models that a visitor can choose from, by name, with their languages; nothing here loads one.

A name that comes from an address or from a session is looked up here and never taken for a path.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from transformer_core.storage.bundled_models import SHIPPED, find_checkpoint
from transformer_core.storage.files import CheckpointError
from transformer_core.storage.manifest import read_object
from transformer_core.storage.measurements import MAX_METRIC_BYTES, METRICS_FILE
from viz_app.serving.measurements.model_card import Languages, ModelCard
from viz_app.serving.opening.opened_models import opened_models
from viz_app.text import Texts

ROOT = Path(__file__).resolve().parents[3]
DEFAULT_CHECKPOINT = SHIPPED / "en-de"

_GIT_SECONDS = 5
_listings: ContextVar[dict[object, dict[str, Path]]] = ContextVar("listings")  # of the folders, in one run of a page


def checkpoint_folder() -> Path:
    """Return the folder of the default model: HEADLIGHT_CHECKPOINT, or the shipped one."""
    name = os.environ.get("HEADLIGHT_CHECKPOINT")
    return Path(find_checkpoint(name)) if name else DEFAULT_CHECKPOINT


def available_models() -> dict[str, Path]:
    """Return the folders of all models by name, the default one first.

    The others are what HEADLIGHT_CHECKPOINTS lists, or checkpoints/*/, and then what visitors have opened. Of two
    folders that are called alike the second one has a number.
    """
    listed = os.environ.get("HEADLIGHT_CHECKPOINTS", "")
    opened = [(name, Path(report.folder)) for name, report in opened_models().models.items()]
    listings, asked = _listings.get({}), (os.environ.get("HEADLIGHT_CHECKPOINT"), listed, *opened)
    if asked not in listings:
        listings[asked] = _list_models(checkpoint_folder(), listed, opened)
    return listings[asked]


@contextmanager
def models_listed_once() -> Iterator[None]:
    """Look for the folders of models once in this block, unless settings or opened models change: a page asks often."""
    token = _listings.set({})
    try:
        yield
    finally:
        _listings.reset(token)


def _list_models(served: Path, listed: str, opened: list[tuple[str, Path]]) -> dict[str, Path]:
    folders = [Path(part) for part in listed.split(os.pathsep) if part.strip()]
    if not folders:
        folders = sorted(path.parent for path in SHIPPED.glob("*/config.json"))
    named = [(os.path.basename(os.path.realpath(served)), served)]
    named += [(folder.name, folder) for folder in folders if (folder / "config.json").is_file()]
    named += opened
    models: dict[str, Path] = {}
    there: set[str] = set()
    for stem, folder in named:
        place = os.path.realpath(folder)
        if place in there:
            continue
        there.add(place)
        name, number = stem, 2
        while name in models:
            name, number = f"{stem} ({number})", number + 1
        models[name] = folder
    return models


def opened_by_visitors() -> dict[str, str]:
    """Return the names of the models that visitors have opened: name in the store -> name in the choice."""
    names = {folder.resolve(): name for name, folder in available_models().items()}
    folders = {name: Path(report.folder).resolve() for name, report in opened_models().models.items()}
    return {name: names[folder] for name, folder in folders.items() if folder in names}


def is_tracked(folder: Path) -> bool:
    """Return whether the app's repository tracks this model, so that Git can restore it.

    Its `config.json` decides, which only the folder of a model has: a whole repository is no model to fetch again.
    """
    config = folder.resolve() / "config.json"
    if not config.is_relative_to(ROOT):
        return False
    command = ["git", "--literal-pathspecs", "ls-files", "--", str(config)]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):  # no Git, so nothing that it could fetch
        return False
    return listing.returncode == 0 and bool(listing.stdout)


def default_model() -> str:
    """Return the name of the model for visitors who have chosen none."""
    return next(iter(available_models()))


def languages(folder: Path) -> Languages | None:
    """Return the languages of a checkpoint, without loading it; None if its files do not name them."""
    card = _card(folder)
    return card.languages if isinstance(card, ModelCard) else None


def source_language(name: str) -> str:
    """Return the BCP 47 code of a model's source language; empty if unknown, or for a missing model."""
    folder = available_models().get(name)
    pair = languages(folder) if folder is not None else None
    return pair.source if pair else ""


def is_parser(name: str) -> bool:
    """Return whether a model was trained on trees, as its files say; False for a missing model."""
    folder = available_models().get(name)
    card = None if folder is None else _card(folder)
    return isinstance(card, ModelCard) and card.parses


def unreadable_models() -> dict[str, str]:
    """Return the problems of models whose metrics cannot be read, by name."""
    cards = {name: _card(folder) for name, folder in available_models().items()}
    return {name: problem for name, problem in cards.items() if isinstance(problem, str)}


def _card(folder: Path) -> ModelCard | str | None:
    """Read the metrics of a checkpoint: a card, or its problem; None without metrics."""
    path = folder / METRICS_FILE
    try:
        return _read(path, path.lstat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _read(path: Path, written: int) -> ModelCard | str:
    """Read metrics. `written` is their time of change: a rewritten file is read again."""
    try:
        return ModelCard.from_metrics(read_object(path, MAX_METRIC_BYTES))
    except CheckpointError as error:
        return error.in_folder


def display_names(t: Texts) -> dict[str, str]:
    """Return the display name of each model: its language pair, or its folder's name if that is unknown.

    Models with the same language pair also show their names, unless that is the pair itself, such as en-fr.
    """
    pairs = {name: languages(folder) for name, folder in available_models().items()}
    names = {name: display_name(t, name, pair) for name, pair in pairs.items()}
    shared = {title for title in names.values() if list(names.values()).count(title) > 1}
    plain = {name for name, pair in pairs.items() if pair and name == f"{pair.source}-{pair.target}"}
    return {
        name: f"{title} ({name})" if title in shared and name not in plain else title for name, title in names.items()
    }


def display_name(t: Texts, name: str, languages: Languages | None) -> str:
    """Return the display name of one model: "English → German", or its name if a language is unknown."""
    if languages is None or not (languages.source and languages.target):
        return name
    return t("models.pair", source=t.language_name(languages.source), target=t.language_name(languages.target))
