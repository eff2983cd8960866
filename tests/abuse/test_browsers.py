"""Browsers that docs/serving.md names have what scripts and styles use. Versions: MDN's browser-compat-data, 2026."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import pytest

from viz_app.components.modules import join_modules
from viz_app.components.styles import join_styles

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "viz_app"
Versions = tuple[float, float, float]

# Feature -> the first Chrome, Firefox and Safari that have it; never: not in all of them yet.
NEVER: Versions = (999, 999, 999)
SCRIPT: dict[str, Versions] = {
    r"\?\?=|\|\|=|&&=": (85, 79, 14),
    r"\.replaceChildren\(": (86, 78, 14),
    r"\.at\(": (92, 90, 15.4),
    r"Object\.hasOwn\(": (93, 92, 15.4),
    r"structuredClone\(": (98, 94, 15.4),
    r"\.findLast(Index)?\(": (97, 104, 15.4),
    r"\.roundRect\(": (99, 112, 16),
    r"AbortSignal\.timeout\(": (124, 100, 16),
    r"adoptedStyleSheets": (73, 101, 16.4),
    r"\(\?<[=!]": (62, 78, 16.4),
    r"\.to(Sorted|Reversed|Spliced)\(": (110, 115, 16),
    r"\.showPopover\(": (114, 125, 17),
    r"(Object|Map)\.groupBy\(": (117, 119, 17.4),
    r"Promise\.withResolvers\(": (119, 121, 17.4),
    r"URL\.canParse\(": (120, 115, 17),
    r"Array\.fromAsync\(": (121, 115, 16.4),
    r"\.(union|intersection|difference|symmetricDifference|isSubsetOf|isSupersetOf|isDisjointFrom)\(": (122, 127, 17),
    r"\.(values|keys|entries)\(\)\.(map|filter|take|drop|flatMap|reduce|toArray|some|every|find)\(": (122, 131, 18.4),
    r"AbortSignal\.any\(": (116, 124, 17.4),
    r"\.checkVisibility\(": (105, 106, 17.4),
    r"Promise\.try\(": (128, 134, 18.2),
    r"Float16Array|Math\.f16round|etFloat16\(": (135, 129, 18.2),
    r"RegExp\.escape\(": (136, 134, 18.2),
    r"startViewTransition": (111, 144, 18),
    r"\bawait using\b|^\s*using \w": NEVER,
    r"\bTemporal\.": NEVER,
    r"requestIdleCallback": NEVER,
}
STYLE: dict[str, Versions] = {
    r"\binset:": (87, 66, 14.1),
    r":(is|where)\(": (88, 78, 14),
    r"aspect-ratio:": (88, 89, 15),
    r":has\(": (105, 121, 15.4),
    r"@container|container-type": (105, 110, 16),
    r"@layer": (99, 97, 15.4),
    r"\d[dsl]vh": (108, 101, 15.4),
    r"@media[^{]*[<>]": (104, 102, 16.4),
    r"^\s*&": (120, 117, 17.2),
    r"@property": (85, 128, 16.4),
    r"@starting-style": (117, 129, 17.5),
    r"text-wrap: (balance|pretty)": (114, 121, 17.5),
    r"@scope|anchor-name|position-anchor|interpolate-size": NEVER,
}
# Without these only a colour or an edge differs:
# color-mix(), light-dark(), :focus-visible, scrollbar-width, mask-image.
# Without field-sizing the field of a sentence is always three lines high.


def documented(part: str) -> Versions:
    row = re.search(rf"^\| {part} \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", _guide(), re.MULTILINE)
    assert row
    chrome, firefox, safari = map(float, row.groups())
    return chrome, firefox, safari


def _guide() -> str:
    return (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")


def _without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|^\s*//.*?$", "", text, flags=re.DOTALL | re.MULTILINE)


def too_new(text: str, features: dict[str, Versions], oldest: Versions) -> list[str]:
    """Features in a text that the oldest browsers lack."""
    plain = _without_comments(text)
    late = {name for name, since in features.items() if any(s > o for s, o in zip(since, oldest, strict=True))}
    return [name for name in sorted(late) if re.search(name, plain, re.MULTILINE)]


def test_the_app_uses_only_what_these_browsers_have() -> None:
    oldest, files = documented("the app"), [*APP.rglob("*.js"), *APP.rglob("*.css")]
    own = [path for path in files if "vendor" not in path.parts]
    assert len(own) > 100
    rows = [
        (path.name, name)
        for path in own
        for name in too_new(path.read_text(encoding="utf-8"), SCRIPT if path.suffix == ".js" else STYLE, oldest)
    ]
    assert rows == []


def test_phones_may_be_older() -> None:
    """A phone whose browser lacks `AbortSignal.timeout` told only that there is no connection."""
    oldest, folder = documented("the page of students' phones"), APP / "classroom"
    styles = join_styles(folder / "join.css", "explained") + (folder / "poll.css").read_text(encoding="utf-8")
    script = join_modules(folder / "js" / "join.js")
    # Explanations of words, which are absent without popovers.
    result = chain(too_new(script, SCRIPT, oldest), too_new(styles, STYLE, oldest))
    assert [name for name in result if "showPopover" not in name] == []
    assert "@supports not selector(:popover-open)" in styles


@pytest.mark.parametrize("line", ["const both = a.union(b);", "  using file = open();", "const x = list.toSorted();"])
def test_a_later_feature_is_found(line: str) -> None:
    assert too_new(line, SCRIPT, (109, 114, 15))
    assert not too_new(f"// {line}", SCRIPT, (109, 114, 15))
