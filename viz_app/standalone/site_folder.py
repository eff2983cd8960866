"""Folder of a site: pages, the files that they share, named by their content, and the worker that keeps all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from viz_app.components.html_document import split_document
from viz_app.components.modules import join_modules, self_starting
from viz_app.text import DEFAULT_LANGUAGE, LANGUAGE_NAMES, LANGUAGES

SERVICE_WORKER = "service-worker.js"
ROOTS = {language: "" if language == DEFAULT_LANGUAGE else f"{language}/" for language in LANGUAGES}  # of its pages

_FOLDER = Path(__file__).parent
_STATIC = _FOLDER.parent / "static"


class SiteFolder:
    """Folder of a site; all addresses in it are relative.

    Args:
        path: An empty folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._hashes: dict[str, str] = {}  # of each file
        self._loaded: dict[str, set[str]] = {}  # files of each page
        self._later: set[str] = set()  # files that a browser keeps only once it has asked for them
        fonts = _STATIC / "fonts"
        self._write("assets/STIX-LICENSE.txt", (fonts / "STIX-LICENSE.txt").read_bytes())
        font = self.keep((fonts / "STIXTwoMath.woff2").read_bytes(), ".woff2").removeprefix("assets/")
        style = (_FOLDER / "site.css").read_text(encoding="utf-8").replace("MATH_FONT", font)
        self._style = self.keep(style.encode(), ".css")
        self._script = self.keep(self_starting(join_modules(_FOLDER / "js" / "site.js")).encode(), ".js")
        self._icon = self.keep((_STATIC / "icon.svg").read_bytes(), ".svg")

    def keep(self, data: bytes, ending: str, *, later: bool = False) -> str:
        """Write a file that pages share, once; return its path.

        Args:
            data: Its bytes.
            ending: Such as ".js".
            later: Whether a browser keeps it only once a page has asked for it.
        """
        path = f"assets/{_hash(data)}{ending}"
        if later:
            self._later.add(path)
        return path if path in self._hashes else self._write(path, data)

    def add_page(self, name: str, language: str, page: str, nav: str) -> None:
        """Write a page, with links above it.

        Args:
            name: Such as "index.html", the same in all languages.
            language: Its language.
            page: From `html_document`.
            nav: Links to other pages, as markup.
        """
        root = "../" if ROOTS[language] else ""
        loaded = self._loaded[ROOTS[language] + name] = {self._style, self._script}

        def keep(data: bytes, ending: str) -> str:
            loaded.add(kept := self.keep(data, ending))
            return root + kept

        for other in (each for each in LANGUAGES if each != language):
            address = f"{root}{ROOTS[other]}{name}"
            nav += f'<a lang="{other}" hreflang="{other}" href="{address}">{LANGUAGE_NAMES[other]}</a>'
        head = (
            f'<link rel="stylesheet" href="{root}{self._style}">\n<link rel="manifest" href="manifest.webmanifest">\n'
            f'<link rel="icon" href="{root}{self._icon}">\n<script type="module" src="{root}{self._script}"></script>\n'
        )
        text = split_document(page, keep).replace("</head>\n<body>\n", f"{head}</head>\n<body>\n<nav>{nav}</nav>\n", 1)
        self._write(ROOTS[language] + name, text.encode("utf-8", errors="replace"))

    def size(self, page: str) -> int:
        """Return the bytes of a page and of all that it loads."""
        return self._total({page, *self._loaded[page]})

    @property
    def kept_size(self) -> int:
        """Bytes that a browser keeps after the first visit."""
        return self._total(self._hashes.keys() - self._later)

    def finish(self) -> None:
        """Write the manifests, and the service worker with the list of all files."""
        manifest = (_FOLDER / "manifest.webmanifest").read_text(encoding="utf-8").replace("{icon}", self._icon)
        for folder in ROOTS.values():
            text = manifest.replace("{root}", "../" if folder else "")
            self._write(f"{folder}manifest.webmanifest", text.encode())
        known = f"const FILES = {json.dumps(self._hashes)};\nconst LATER = {json.dumps(sorted(self._later))};\n"
        code = known + join_modules(_FOLDER / "js" / "service_worker.js")
        (self.path / SERVICE_WORKER).write_text(code, encoding="utf-8")

    def _write(self, path: str, data: bytes) -> str:
        target = self.path / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(data)
        self._hashes[path] = _hash(data)
        return path

    def _total(self, paths: Iterable[str]) -> int:
        return sum((self.path / path).stat().st_size for path in paths)


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
