"""Folder of a site: pages, the files that they share, named by their content, and the worker that keeps all."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from viz_app.components.html_document import split_document
from viz_app.components.modules import join_modules, self_starting
from viz_app.text import LANGUAGE_NAMES

_FOLDER = Path(__file__).parent
_TITLE = re.compile(r"<title>.*?</title>\n", re.S)
WEIGHTS = ".weights"  # ending of files that a browser keeps only once a page has asked for them


class SiteFolder:
    """Folder of a site; all addresses in it are relative.

    Args:
        path: An empty folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.hashes: dict[str, str] = {}  # of each file
        fixed = _FOLDER / "site_files"
        for file in sorted(each for each in fixed.rglob("*") if each.is_file()):
            self._write(file.relative_to(fixed).as_posix(), file.read_bytes())
        for name in ("icon.svg", "logo.svg"):
            self._write(f"assets/{name}", (_FOLDER.parent / "static" / name).read_bytes())
        self._write("assets/site.js", self_starting(join_modules(_FOLDER / "js" / "site.js")).encode())

    def keep(self, data: bytes, ending: str) -> str:
        """Write a file that pages share; return its path, which its content gives."""
        return self._write(f"assets/{_hash(data)[:16]}{ending}", data)

    def add_page(self, name: str, language: str, page: str, head: str, header: str) -> None:
        """Write a page below its header.

        Args:
            name: Such as "index.html", the same in all languages.
            language: Its language, which also names its folder.
            page: From `html_document`.
            head: End of its head, with its title.
            header: Its header, as markup.
        """
        text = split_document(page, lambda data, ending: f"../{self.keep(data, ending)}")
        text = _TITLE.sub("", text, count=1).replace("</head>\n<body>", f"{head}</head>\n<body>\n{header}", 1)
        self._write(f"{language}/{name}", text.encode("utf-8", errors="replace"))

    def add_file(self, path: str, data: bytes) -> None:
        """Write a file that no page loads, so that no browser keeps it."""
        (self.path / path).write_bytes(data)

    def size(self, paths: Iterable[str]) -> int:
        """Return the bytes of files."""
        return sum((self.path / path).stat().st_size for path in paths)

    def write_worker(self) -> None:
        """Write the service worker, with the list of all files."""
        code = f"const FILES = {json.dumps(self.hashes)};\n" + join_modules(_FOLDER / "js" / "service_worker.js")
        (self.path / "service-worker.js").write_text(code, encoding="utf-8")

    def write_start(self, head: str) -> None:
        """Write the start page, which leads to the reader's language."""
        text = (_FOLDER / "site_start.html").read_text(encoding="utf-8")
        links = "".join(
            f'<a lang="{code}" hreflang="{code}" href="{code}/index.html">{name}</a>'
            for code, name in LANGUAGE_NAMES.items()
        )
        self._write(
            "index.html", text.replace("{head}", head.replace("../", "")).replace("{languages}", links).encode()
        )

    def _write(self, path: str, data: bytes) -> str:
        target = self.path / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(data)
        self.hashes[path] = _hash(data)
        return path


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
