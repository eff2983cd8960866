"""Folders with long and unusual names, and line ends of a checkout."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from transformer_core.cli import main
from viz_app.cli import HEADLIGHT

ROOT = Path(__file__).resolve().parents[2]


def test_commands_in_a_folder_with_a_long_and_unusual_name(random_checkpoint: Path, tmp_path: Path) -> None:
    """More than 260 characters, blanks, Korean, and what shells, addresses and TeX read otherwise."""
    folder = tmp_path.joinpath(*["새 폴더 #1 100% & 'x' $HOME {a} ~b", "긴 이름" * 15] * 3)
    folder.mkdir(parents=True)
    assert len(str(folder)) > 300
    model = shutil.copytree(random_checkpoint, folder / "모델 #1")
    (folder / "문장 %.txt").write_text("A dog runs.\n", encoding="utf-8")
    figure = ["export", "--view=head", "--layer=1", "--head=1", "--text=A dog."]
    commands = [
        *([*figure, f"--out={folder / f'그림 #1.{each}'}"] for each in ("svg", "tex", "pdf")),
        ["page", "--text=A dog.", f"--out={folder / '쪽 100%.html'}"],
        ["translate", f"--input={folder / '문장 %.txt'}", f"--output={folder / '번역 #.txt'}"],
        ["analyse", "effects", "--source=A dog.", f"--out={folder / '효과 &.csv'}"],
    ]
    for command in commands:
        assert main([*command, f"--checkpoint={model}"], HEADLIGHT) == 0, command
        assert Path(command[-1].partition("=")[2]).stat().st_size
    for ending in ("svg", "tex", "pdf"):
        assert main(["reproduce", str(folder / f"그림 #1.{ending}"), f"--checkpoint={model}"], HEADLIGHT) == 0


def test_git_writes_the_same_lines_on_every_system() -> None:
    """Files that are hashed, compared or sent keep their bytes, whatever `core.autocrlf` says."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs the repository")

    def git(*arguments: str, text: str = "") -> list[str]:
        done = subprocess.run(["git", *arguments], cwd=ROOT, input=text, capture_output=True, text=True, check=True)
        return done.stdout.split("\0")[:-1]

    kinds = git("check-attr", "-z", "--stdin", "text", "eol", text="\0".join(git("ls-files", "-z")) + "\0")
    kept = {file for file, name, value in zip(*[iter(kinds)] * 3, strict=True) if (name, value) == ("text", "unset")}
    unix = {file for file, name, value in zip(*[iter(kinds)] * 3, strict=True) if (name, value) == ("eol", "lf")}
    assert kept | unix == set(kinds[::3]) and len(kept) > 50
