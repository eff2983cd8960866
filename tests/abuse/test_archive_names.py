"""Names in a zip that mean something else on Windows or macOS; read, not tried there."""

from __future__ import annotations

import ntpath
import unicodedata
import zipfile
from pathlib import Path, PureWindowsPath

import pytest

from viz_app.serving.opening.model_archive import OpenError, check_archive

HARMLESS = ["config.json", "console.json", "nullable.txt", "com.txt", "auxiliary/vocab.json", "a b.json", "v1.0/a.json"]
DEVICES = ["CON", "nul.txt", "AUX .json", "COM1", "lpt9.bin", "COM\u00b9.txt", "conout$"]


def archive(folder: Path, *names: str) -> Path:
    path = folder / "model.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, b"{}")
    return path


def is_reserved(name: str) -> bool:
    """What Python knows of Windows, apart from names that end with a dot or a space."""
    if hasattr(ntpath, "isreserved"):
        return bool(ntpath.isreserved(name))
    return PureWindowsPath(name).is_reserved()


@pytest.mark.parametrize("name", [*DEVICES, "model/NUL", "prn.d/config.json"])
def test_no_file_of_a_zip_opens_a_device(tmp_path: Path, name: str) -> None:
    """`open("NUL.txt", "xb")` succeeds on Windows; on COM1 it may wait for ever."""
    assert any(is_reserved(part) for part in name.split("/"))
    with pytest.raises(OpenError, match=r"^name"):
        check_archive(archive(tmp_path, name))


@pytest.mark.parametrize("name", ["config.json.", "config.json ", "a. /config.json", "a:stream", "a\\b"])
def test_no_name_means_another_file_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(OpenError, match=r"^name"):
        check_archive(archive(tmp_path, name))


def test_other_names_pass(tmp_path: Path) -> None:
    assert not any(is_reserved(part) for name in HARMLESS for part in name.split("/"))
    names = {member.name for member in check_archive(archive(tmp_path, *HARMLESS))}
    assert names == set(HARMLESS)


def test_names_that_a_disk_may_take_for_one(tmp_path: Path) -> None:
    composed = unicodedata.normalize("NFC", "\u00e9.json")
    for pair in (["A.json", "a.json"], [composed, unicodedata.normalize("NFD", composed)]):
        with pytest.raises(OpenError, match=r"^twice"):
            check_archive(archive(tmp_path, *pair))
