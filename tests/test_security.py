"""SECURITY.md: its limits are those of the code, and vendored files are those that their SHA256SUMS list."""

from __future__ import annotations

import hashlib
import importlib
import re
import tomllib
from pathlib import Path

import pytest

from transformer_core import config
from transformer_core.config import ConfigError
from viz_app.serving.settings import FRAME_SETTING
from viz_app.serving.web.middleware import CLOSED

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "SECURITY.md"
_ROW = re.compile(r"\| (.+) \| ([\d,]+)(?: (.+))? \| `(\w+)` in \[[\w./]+\]\(([\w./]+)\) \|")
_UNITS = {"MB": 10**6, "kB": 10**3, "MiB": 2**20, "million": 10**6}
ROWS = [_ROW.fullmatch(line) for line in GUIDE.read_text(encoding="utf-8").splitlines() if "` in [" in line]


def test_each_row_can_be_read() -> None:
    assert None not in ROWS and len(ROWS) > 30


@pytest.mark.parametrize("row", [row.groups() for row in ROWS if row], ids=lambda row: f"{row[0]} {row[3]}")
def test_a_limit_is_that_of_the_code(row: tuple[str, str, str | None, str, str]) -> None:
    what, number, unit, name, path = row
    value = int(number.replace(",", "")) * _UNITS.get((unit or "").split(" ")[0], 1)
    assert (ROOT / path).is_file()
    if path.endswith(".toml"):
        server = tomllib.loads((ROOT / path).read_text(encoding="utf-8"))["server"]
        assert server[name] * 10**6 == value
    elif name.endswith("Config"):
        check_option(name, what.strip("`"), value)
    else:
        assert getattr(importlib.import_module(path.removesuffix(".py").replace("/", ".")), name) == value


def check_option(kind: str, option: str, most: int) -> None:
    """The largest value passes, and the next one does not."""
    options = {"vocab_size": 10, "num_heads": 1} if kind == "ModelConfig" else {}
    if option == "num_heads":
        options["d_model"] = 2 * most
    made = getattr(config, kind).from_dict({**options, option: most})
    assert getattr(made, option) == most
    with pytest.raises(ConfigError, match=f"{option} is {most + 1}, but must be between"):
        getattr(config, kind).from_dict({**options, option: most + 1})


def test_closed_doors_and_settings_are_named() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert all(f"`{path}`" in text for path in CLOSED)
    assert f"`{FRAME_SETTING}`" in text


VENDORED = [
    ROOT / "viz_app/components/bertviz_frame/vendor",
    ROOT / "viz_app/components/explorer/vendor",
    ROOT / "viz_app/static/fonts",
]


@pytest.mark.parametrize("folder", VENDORED, ids=lambda folder: folder.name)
def test_vendored_files_are_those_of_their_packages(folder: Path) -> None:
    """As `sha256sum --check SHA256SUMS` does; a file that is not listed fails too."""
    lines = (folder / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    values = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    own = {"README.md", "SHA256SUMS"}
    assert {name: digest for name, digest in values.items() if name not in own} == listed
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert [name for name in listed if f"`{name}`" not in text] == []  # with version, source and licence


def test_no_other_folder_holds_vendored_files() -> None:
    endings = {".woff2", ".woff", ".ttf", ".otf", ".wasm"}
    packages = [ROOT / "viz_app", ROOT / "transformer_core"]
    files = [path for package in packages for path in package.rglob("*")]
    foreign = [path for path in files if path.suffix in endings or path.name.endswith((".min.js", ".min.css"))]
    assert {path.parent for path in foreign} == set(VENDORED)
