"""The whole app in Streamlit's own test runner, with a checkpoint of random weights."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test

from tests.atlas_samples import drawn_atlas
from tests.random_model import save_random_model
from transformer_core.atlas.storage import FILE, to_bytes
from transformer_core.checkpoint import load_checkpoint
from transformer_core.cli import main
from transformer_core.storage.measurements import write_derived
from transformer_core.translator import Translator
from viz_app.cli import PROGRAM
from viz_app.export.figure_request import ModelRunner
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.text import LANGUAGES

MAIN = Path(__file__).resolve().parents[2] / "viz_app" / "page_script.py"
SECONDS = 120
SENTENCE = "The house was built a hundred years ago."
OTHER = "She is waiting for the bus."
Serve = Callable[..., Path]


@pytest.fixture(scope="session", autouse=True)
def found_once() -> Iterator[None]:
    """Each app looks through all packages for components and compiles its pages, 0.4 s; here once for all apps."""
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        patch.setattr(app_test, "ScriptCache", lambda: compiled)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_exception() -> Iterator[None]:
    """No run of an app may end in an exception that the app does not explain."""
    run = AppTest._run

    def checked(app: AppTest, *arguments: Any, **options: Any) -> AppTest:
        run(app, *arguments, **options)
        assert not app.exception
        return app

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AppTest, "_run", checked)
        yield


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    """Each language of the app in turn."""
    return str(request.param)


@pytest.fixture
def fresh_model() -> Iterator[None]:
    """The test sees no model that another one loaded; else a model and what was computed with it stay."""
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def app(random_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app, not run yet, with its menus open, so that all that it offers is drawn."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(random_checkpoint))
    return with_open_menus(AppTest.from_file(str(MAIN), default_timeout=SECONDS))


@pytest.fixture
def app_with_parser(random_checkpoint: Path, parser_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app with a translator and a parser; the address chooses."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(random_checkpoint))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", os.pathsep.join([str(random_checkpoint), str(parser_checkpoint)]))
    return scrolled(AppTest.from_file(str(MAIN), default_timeout=SECONDS))


def with_open_menus(app: AppTest) -> AppTest:
    """An app whose menus are open from the first run on, and the downloads of the page Translate."""
    app.session_state["menu-share"], app.session_state["tool"] = True, "download"
    return scrolled(app)


def scrolled(app: AppTest) -> AppTest:
    """An app whose pages Model and Figures are as after scrolling to their end, with all expanders open."""
    for key in ("growth-curves", "pruning", "own-model", "figures-texts"):
        app.session_state[f"in-sight-{key}"] = {"seen": True}
    for key in ("model-numbers", "model-card"):
        app.session_state[key] = True
    return app


@pytest.fixture
def serve(random_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Serve the random checkpoint with other metrics, or with what was derived from the model of a hash."""

    def served(metrics: object = None, derived: dict[str, bytes] | None = None, *, weights_hash: str = "") -> Path:
        folder = tmp_path / "served"
        if metrics is None:
            shutil.copytree(random_checkpoint, folder)
        else:
            save_random_model(folder, seed=7, metrics=metrics)
        if derived is not None:
            write_derived(folder, weights_hash or load_checkpoint(folder).weights_hash, derived)
        monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(folder))
        return folder

    return served


@pytest.fixture
def serve_atlas(serve: Serve, random_checkpoint: Path) -> Serve:
    """Serve the random checkpoint with a drawn atlas, of which parts may be missing."""

    def served(*without: str) -> Path:
        weights = load_checkpoint(random_checkpoint).weights_hash
        atlas = msgspec.structs.replace(drawn_atlas(weights_hash=weights), **dict.fromkeys(without))
        return serve(None, {FILE: to_bytes(atlas)})

    return served


@pytest.fixture(scope="module")
def translator(random_checkpoint: Path) -> Translator:
    return Translator.load(random_checkpoint)


@pytest.fixture(scope="module")
def service(translator: Translator) -> TranslationService:
    """One turn at a time; what a test computes is known to the next ones of its file."""
    return TranslationService(translator, RequestQueue(1))


@pytest.fixture(scope="session")
def reader() -> ModelRunner:
    return ModelRunner()


@pytest.fixture
def at_checkpoint(random_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The checkpoint's name, from where the test now stands."""
    monkeypatch.chdir(random_checkpoint.parent)
    return random_checkpoint.name


@pytest.fixture
def run(at_checkpoint: str) -> Callable[..., int]:
    """Run a command of the app's command line with the random checkpoint."""

    def command(name: str, *arguments: object) -> int:
        return main([name, f"--checkpoint={at_checkpoint}", *map(str, arguments)], PROGRAM)

    return command
