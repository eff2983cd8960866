"""Files that a button made: how long they stay, with Streamlit's own store of files."""

from __future__ import annotations

import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from viz_app.services.kept_files import KEPT_SECONDS, Seldom, keep_files


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MediaFileManager:
    """Streamlit's store, asked by one session."""
    monkeypatch.setattr(media_file_manager, "_get_session_id", lambda: "a visitor")
    return MediaFileManager(MemoryMediaFileStorage("/media"))


def pressed(manager: MediaFileManager) -> str:
    """Id of the file that a button made."""
    button = manager.add_deferred(lambda: b"a picture", "image/png", "0.1", file_name="picture.png")
    return manager.execute_deferred(button).split("/")[-1].split(".")[0]


def there(manager: MediaFileManager, file: str) -> bool:
    return manager.read_file(file) is not None


def test_a_file_outlives_the_runs_of_others(manager: MediaFileManager) -> None:
    now = 0.0
    runs_end = Seldom(manager.remove_orphaned_files, clock=lambda: now)
    file = pressed(manager)
    for _ in range(100):
        runs_end()
    now = KEPT_SECONDS - 0.1
    runs_end()
    assert there(manager, file)
    now = KEPT_SECONDS
    runs_end()
    assert not there(manager, file), "nor does it stay for ever"


def test_without_it_two_runs_are_enough(manager: MediaFileManager) -> None:
    file = pressed(manager)
    manager.remove_orphaned_files()
    assert there(manager, file)
    manager.remove_orphaned_files()
    assert not there(manager, file)


def test_without_a_server_there_is_nothing_to_keep() -> None:
    keep_files()
