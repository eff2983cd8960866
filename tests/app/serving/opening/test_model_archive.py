"""Archives of models: what is unpacked is what was packed, and what would do harm is refused before it does."""

from __future__ import annotations

import contextlib
import random
import shutil
import stat
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from tests.app.serving.opening import zips
from viz_app.serving.opening import model_archive
from viz_app.serving.opening.model_archive import OpenError, check_archive, unpack

FILES = {"config.json": b"{}", "derived/atlas.json": b"[1]", "model.safetensors": random.Random(1).randbytes(3_000_000)}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("around", ["", "opus-mt-ko-en/"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_files_come_out_as_they_went_in(around: str, method: int, tmp_path: Path) -> None:
    hidden = {f"{around}.git/config": b"x", f"{around}.gitattributes": b"y", f"__MACOSX/{around}._a": b"z"}
    path = zips.written(tmp_path / "a.zip", {f"{around}{name}": data for name, data in FILES.items()} | hidden, method)
    told: list[tuple[int, int]] = []
    (tmp_path / "out").mkdir()
    unpack(path, tmp_path / "out", lambda done, total: told.append((done, total)))
    assert contents(tmp_path / "out") == FILES
    size = sum(map(len, FILES.values()))
    assert told == sorted(told) and told[-1] == (size, size)


def refused(path: Path, problem: str) -> OpenError:
    folder = path.with_name("out")
    folder.mkdir(exist_ok=True)
    with pytest.raises(OpenError) as error:
        unpack(path, folder)
    assert error.value.problem == problem
    assert not [each for each in path.parent.rglob("*") if each not in (path, folder) and folder not in each.parents]
    return error.value


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "a/../../evil",
        "/etc/evil",
        "a//b",
        "./a",
        "C:evil",
        "a\\..\\evil",
        "a\x1b[2Jb",
        "nul\x00.json",
        "a/.",
    ],
)
def test_names_that_lead_elsewhere(name: str, tmp_path: Path) -> None:
    path = zips.written(tmp_path / "a.zip", {"config.json": b"{}", "X" * len(name): b"evil"})
    zips.patched(path, b"X" * len(name), name.encode())
    refused(path, "name")
    assert contents(tmp_path / "out") == {}


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices(kind: int, tmp_path: Path) -> None:
    assert refused(zips.with_mode(tmp_path / "a.zip", "config.json", kind), "link").values == {"file": "config.json"}


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"a/b/c/config.json": b"{}", "config.json": b"{}"}, "deep"),
        ({"config.json": b"{}", "CONFIG.json": b"{}"}, "twice"),
        ({"m/config.json": b"{}", "m/inner.zip": b"PK"}, "nested"),
        ({"config.json": b"{}", "weights.tar.GZ": b""}, "nested"),
        ({".git/config": b"{}"}, "empty"),
        ({}, "empty"),
    ],
)
def test_what_no_model_has(files: dict[str, bytes], problem: str, tmp_path: Path) -> None:
    refused(zips.written(tmp_path / "a.zip", files), problem)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_cost_memory(method: int, tmp_path: Path) -> None:
    refused(zips.written(tmp_path / "a.zip", {"config.json": b"{}" * 99}, method), "method")


def test_a_password(tmp_path: Path) -> None:
    path = zips.written(tmp_path / "a.zip", {"config.json": b"{}"})
    refused(zips.directory_field(path, 8, "<H", 1), "password")


@pytest.mark.parametrize(
    ("limit", "value", "problem"),
    [("MAX_UNPACKED", 999, "unpacked"), ("MAX_FILES", 2, "files"), ("MAX_PACKED", 99, "no_archive")],
)
def test_limits(limit: str, value: int, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_archive, limit, value)
    path = zips.written(tmp_path / "a.zip", {"config.json": b" " * 1000, "a": b"", "b": b""})
    refused(path, problem)


def test_a_bomb_is_refused_by_what_it_says(tmp_path: Path) -> None:
    """Two files of 4.3 GB each, as its directory says, in 200 bytes; nothing of it is unpacked."""
    path = zips.written(tmp_path / "a.zip", {"model.safetensors": b""})
    zips.directory_field(path, 24, "<L", 4_294_967_294)
    first = path.read_bytes()
    entry = first[first.index(b"PK\x01\x02") : first.index(b"PK\x05\x06")]
    end = bytearray(first[first.index(b"PK\x05\x06") :])
    struct.pack_into("<HHL", end, 8, 2, 2, 2 * len(entry))
    path.write_bytes(first[: first.index(b"PK\x01\x02")] + entry + entry.replace(b"safetensors", b"safetensorz") + end)
    assert refused(path, "unpacked").values == {"most": "6,000"}


@pytest.mark.parametrize("said", [10, 2_000_000])
def test_a_size_that_is_a_lie(said: int, tmp_path: Path) -> None:
    path = zips.written(tmp_path / "a.zip", {"config.json": b" " * 1_000_000})
    error = refused(zips.directory_field(path, 24, "<L", said), "damaged")
    assert error.values == {"file": "config.json"}
    assert sum(map(len, contents(tmp_path / "out").values())) <= 1_000_000


def test_a_checksum_that_is_wrong(tmp_path: Path) -> None:
    path = zips.written(tmp_path / "a.zip", {"config.json": b"0123456789" * 99}, zipfile.ZIP_STORED)
    refused(zips.patched(path, b"0123456789", b"0123456780", 1), "damaged")


@pytest.mark.parametrize("cut", [0, 10, -1, -30])
def test_what_is_cut_off(cut: int, tmp_path: Path) -> None:
    path = zips.written(tmp_path / "a.zip", {"config.json": b"{}"})
    path.write_bytes(path.read_bytes()[:cut])
    refused(path, "no_archive")


def test_a_directory_that_would_fill_the_memory(tmp_path: Path) -> None:
    path = zips.huge_directory(tmp_path / "a.zip")
    tracemalloc.start()
    try:
        with pytest.raises(OpenError) as error:
            check_archive(path)
        assert error.value.problem in ("files", "no_archive")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_disk_that_is_too_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zips.written(tmp_path / "a.zip", FILES)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=model_archive.SPARE_BYTES + 5_000_000))
    error = refused(path, "disk")
    assert error.values == {"needed": "7", "free": "5"}
    assert contents(tmp_path / "out") == {}


@pytest.mark.parametrize("broken", range(40))
def test_any_damage_is_one_error(broken: int, tmp_path: Path) -> None:
    path = zips.written(tmp_path / "a.zip", {"m/config.json": b'{"a": 1}' * 50, "m/vocab.json": b"{}"})
    data, chance = bytearray(path.read_bytes()), random.Random(broken)
    for _ in range(1 + broken % 4):
        data[chance.randrange(len(data))] = chance.randrange(256)
    path.write_bytes(data)
    (tmp_path / "out").mkdir()
    with contextlib.suppress(OpenError):  # any other error fails the test
        unpack(path, tmp_path / "out")
    assert {each.name for each in tmp_path.iterdir()} == {"a.zip", "out"}
