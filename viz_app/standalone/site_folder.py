"""Folder of a site: pages, the files that they share, named by their content, and the worker that keeps all."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Any

from viz_app.components.html_document import split_document
from viz_app.components.modules import join_modules, self_starting
from viz_app.text import DEFAULT_LANGUAGE, LANGUAGE_NAMES, LANGUAGES

SERVICE_WORKER = "service-worker.js"

_FOLDER = Path(__file__).parent
_STATIC = _FOLDER.parent / "static"


def place(language: str) -> str:
    """Return the folder of the pages in a language: "", or such as "ko/"."""
    return "" if language == DEFAULT_LANGUAGE else f"{language}/"


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

    def write(self, path: str, data: bytes) -> str:
        """Write a file; return its path."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self._hashes[path] = _hash(data)
        return path

    def keep(self, data: bytes, ending: str, *, later: bool = False) -> str:
        """Write a file that pages share, once; return its path.

        Args:
            data: Its bytes.
            ending: Such as ".js".
            later: Whether it is loaded only when a reader asks for it.
        """
        path = f"assets/{_hash(data)}{ending}"
        if later:
            self._later.add(path)
        return path if path in self._hashes else self.write(path, data)

    def add_page(self, name: str, language: str, page: str, nav: str) -> str:
        """Write a page with the links above it; return its path.

        Args:
            name: Such as "index.html", the same in all languages.
            language: Its language.
            page: From `html_document`.
            nav: Links to other pages, as markup.
        """
        path, root = place(language) + name, "../" * place(language).count("/")
        loaded = self._loaded[path] = {self._style, self._script}

        def keep(data: bytes, ending: str) -> str:
            loaded.add(kept := self.keep(data, ending))
            return root + kept

        others = "".join(
            f'<a lang="{each}" hreflang="{each}" href="{root}{place(each)}{name}">{LANGUAGE_NAMES[each]}</a>'
            for each in LANGUAGES
            if each != language
        )
        head = (
            f'<link rel="stylesheet" href="{root}{self._style}">\n<link rel="manifest" href="manifest.webmanifest">\n'
            f'<link rel="icon" href="{root}{self._icon}">\n<script type="module" src="{root}{self._script}"></script>\n'
        )
        before, _, after = split_document(page, keep).partition("<body>\n")
        text = before.replace("</head>", f"{head}</head>") + f"<body>\n<nav>{nav}{others}</nav>\n" + after
        return self.write(path, text.encode("utf-8", errors="replace"))

    def size(self, path: str) -> int:
        """Return the bytes of a page and of all that it loads."""
        return self.total([path, *self._loaded[path]])

    def total(self, paths: Any = None) -> int:
        """Return the bytes of files; of all that a browser keeps after the first visit unless named."""
        named = self._hashes.keys() - self._later if paths is None else paths
        return sum((self.path / path).stat().st_size for path in named)

    def finish(self, about: dict[str, str]) -> None:
        """Write the manifests and the service worker, which lists all files.

        Args:
            about: The first sentence about the site, by language.
        """
        for language, description in about.items():
            root = "../" * place(language).count("/")
            icon = {"src": root + self._icon, "sizes": "any", "type": "image/svg+xml"}
            manifest = {
                "name": "Headlight",
                "description": description,
                "lang": language,
                "start_url": "index.html",
                "scope": root or "./",
                "display": "standalone",
                "background_color": "#ffffff",
                "theme_color": "#1d2b3a",
                "icons": [icon],
            }
            data = json.dumps(manifest, ensure_ascii=False).encode()
            self.write(f"{place(language)}manifest.webmanifest", data)
        known = {"FILES": dict(sorted(self._hashes.items())), "LATER": sorted(self._later)}
        before = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in known.items())
        code = before + join_modules(_FOLDER / "js" / "service_worker.js")
        (self.path / SERVICE_WORKER).write_text(code, encoding="utf-8")

    @cached_property
    def _icon(self) -> str:
        return self.keep((_STATIC / "icon.svg").read_bytes(), ".svg")

    @cached_property
    def _script(self) -> str:
        return self.keep(self_starting(join_modules(_FOLDER / "js" / "site.js")).encode(), ".js")

    @cached_property
    def _style(self) -> str:
        fonts = _STATIC / "fonts"
        self.write("assets/STIX-LICENSE.txt", (fonts / "STIX-LICENSE.txt").read_bytes())
        font = self.keep((fonts / "STIXTwoMath.woff2").read_bytes(), ".woff2").removeprefix("assets/")
        style = (_FOLDER / "site.css").read_text(encoding="utf-8").replace("MATH_FONT", font)
        return self.keep(style.encode(), ".css")


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
