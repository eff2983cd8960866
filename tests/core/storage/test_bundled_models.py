"""A shipped model has one name, wherever the code is installed and whatever the working directory is."""

from __future__ import annotations

from pathlib import Path

import pytest

from transformer_core.storage import bundled_models as shipped
from transformer_core.storage.bundled_models import SHIPPED, find_checkpoint, shipped_name


@pytest.fixture(params=["checkpoints", "headlight_checkpoints"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Shipped models in a checkout, or in an installed package; the working directory is elsewhere."""
    result = tmp_path / str(request.param)
    (result / "en-de" / "history").mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(shipped, "SHIPPED", result)
    monkeypatch.chdir(elsewhere)
    return result


def test_the_checkout_has_the_shipped_models() -> None:
    assert (SHIPPED / "en-de" / "config.json").is_file()
    assert shipped_name(SHIPPED / "en-de") == "checkpoints/en-de"


@pytest.mark.parametrize("name", ["en-de", "checkpoints/en-de", "checkpoints/en-de/history", "en-de/history"])
def test_a_shipped_model_is_found_from_anywhere_and_named_alike(name: str, folder: Path) -> None:
    result = Path(find_checkpoint(name))
    assert result.is_dir()
    assert result.is_relative_to(folder)
    assert shipped_name(result) == f"checkpoints/{name.removeprefix('checkpoints/')}"
    assert find_checkpoint(str(result)) == str(result)


def test_a_folder_of_ones_own_comes_first(folder: Path) -> None:
    Path("checkpoints/en-de").mkdir(parents=True)
    assert find_checkpoint("checkpoints/en-de") == "checkpoints/en-de"
    assert shipped_name(Path("checkpoints/en-de")) is None


@pytest.mark.parametrize("name", ["", ".", "checkpoints", "en-fr", "../checkpoints/en-de", "en-de/../en-de", "/en-de"])
def test_what_names_no_shipped_model_stays_as_it_is(name: str, folder: Path) -> None:
    assert find_checkpoint(name) == name
