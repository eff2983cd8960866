"""Archives of models, with damage of their directory and of their bytes."""

from __future__ import annotations

import io
import struct
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.abuse.damage import NUMBERS, TEXTS, damaged
from tests.abuse.target import Target
from viz_app.serving.opening.model_archive import OpenError, check_archive, unpack

_DIRECTORY, _END = b"PK\x01\x02", b"PK\x05\x06"
_MEMBERS = st.tuples(
    st.text(max_size=12)
    | st.sampled_from(("config.json", "m/config.json", "m/a/b.bin", "M/CONFIG.JSON", "a.zip", ".git/x", "a:b", *TEXTS)),
    st.sampled_from((0, 0o100644, 0o120777, 0o010644, 0o060644, 0o040755)),  # file, link, pipe, device, folder
    st.sampled_from((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)),
    st.text(max_size=20),
    st.sampled_from((1, 1, 1_000)),
)
# In the directory, or in its end: which entry, where in it, bytes of the number, the number.
_FIELDS = st.tuples(
    st.sampled_from(("directory", "end")),
    st.integers(0, 3),
    st.integers(4, 44),
    st.sampled_from((2, 4, 8)),
    st.sampled_from(NUMBERS),
)


def _archive(case: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, mode, method, text, times in case["files"]:
            info = zipfile.ZipInfo(name.encode("utf-8", "replace").decode() or "x")
            info.create_system, info.external_attr, info.compress_type = 3, mode << 16, method
            archive.writestr(info, text.encode("utf-8", "replace") * times)
    data = bytearray(stream.getvalue())
    for place, entry, offset, size, number in case["fields"]:
        at = -1
        for _ in range(entry + 1):
            at = data.find(_DIRECTORY if place == "directory" else _END, at + 1)
        if at >= 0 and at + offset + size <= len(data):
            struct.pack_into({2: "<H", 4: "<I", 8: "<Q"}[size], data, at + offset, number % 256**size)
    return damaged(bytes(data), case)


def _check_archive(case: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory(prefix="headlight-abuse-") as place:
        path, folder = Path(place) / "upload", Path(place) / "out"
        path.write_bytes(_archive(case))
        folder.mkdir()
        try:
            members = check_archive(path)
            unpack(path, folder)
        except OpenError as error:
            assert error.problem
            members = ()
        made = [each for each in folder.rglob("*") if not each.is_dir()]
        assert all(each.is_file() and not each.is_symlink() for each in made)
        assert not members or {each.relative_to(folder).as_posix() for each in made} == {each.name for each in members}
        assert {each.name for each in Path(place).iterdir()} == {"upload", "out"}


_ARCHIVES = st.fixed_dictionaries(
    {"files": st.lists(_MEMBERS, max_size=4), "fields": st.lists(_FIELDS, max_size=3)},
    optional={
        "flips": st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), max_size=4),
        "length": st.integers(0, 2_000),
    },
)

TARGETS = (Target("archives", _ARCHIVES, _check_archive),)
