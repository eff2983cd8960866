r"""Reader of the prose of a lesson.

A lesson is one Markdown file for each language, `positions/en.md` and `positions/ko.md`, with the same sections:

    # Positional encoding
    One or two sentences for the index.

    ## waves: Waves that stand still
    section: 3.5
    math: PE_{(pos,2i)} = \class{wave}{\sin}\left(\frac{pos}{10000^{2i/d}}\right)

    At most 60 words, with **bold**, *emphasis*, `code`, $p$ and words of the glossary such as {attention}.
    [[Press any tile.]] is for the screen only: a handout leaves it out.

    ## predict: What stays the same?
    section: 3.5

    The question; between its choices, the right one marked by x.

    - [ ] one answer
    - [x] another

    ### answer
    What the picture shows then.

Lines `key: value` stand right below a heading: `tab`, a short name for the tab of a scene with a long title; `section`,
of the paper; `math`, the scene's equation in LaTeX, in which `\class{name}{...}` marks a term that the picture can
light up; several `math` lines stand below each other. Markdown and LaTeX are read by libraries and reach the browser as
a tree of plain values, never as markup.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from viz_app.text.glossary import terms

FOLDER = Path(__file__).parent
BENCHES = "benches"  # folder of the Lab: a folder for each of its scenes, with the scene's words, labels and code

# A token of prose: text, or (tag, attributes, children), ready for JSON.
Node = Any

_HEADING = re.compile(r"^(#{1,3}) (.*)$", re.MULTILINE)
_SCENE = re.compile(r"([a-z][a-z0-9_]*): (.+)")
_KEY = re.compile(r"(tab|section|math): (.+)")
_CHOICE = re.compile(r"^- \[([ x])\] (.+)$", re.MULTILINE)
_SCREEN = re.compile(r"[ \n]?\[\[(.+?)\]\]", re.DOTALL)
_TERM = re.compile(r"\{([a-z_]+)\}")
_MATHML = "{http://www.w3.org/1998/Math/MathML}"


@dataclass(frozen=True)
class Choice:
    """Answer that a class can choose."""

    text: list[Node]
    right: bool


@dataclass(frozen=True)
class Question:
    """Question to predict, with its answer to reveal.

    Args:
        choices: The answers; empty when the class only guesses aloud.
        answer: Paragraphs that are shown when the answer is revealed.
    """

    choices: tuple[Choice, ...]
    answer: list[Node]


@dataclass(frozen=True)
class Scene:
    """Scene: one figure with its words.

    Args:
        name: The same in all languages, in the address and in the code.
        title: Its heading.
        tab: Its name in the row of all scenes.
        section: Of the paper, such as "3.5" or "4, Table 1".
        math: The lines of the equation, each a tree of MathML.
        prose: Paragraphs.
        question: For a scene that asks first.
    """

    name: str
    title: str
    tab: str
    section: str
    math: list[Node]
    prose: list[Node]
    question: Question | None


@dataclass(frozen=True)
class Lesson:
    """Prose of one lesson in one language."""

    name: str
    language: str
    title: str
    summary: str
    scenes: tuple[Scene, ...]


class LessonError(ValueError):
    """Unreadable file of prose; the message names the file and the error."""


@cache
def load_lesson(name: str, language: str, *, on_paper: bool = False) -> Lesson:
    """Load the prose of a lesson; on paper without hints for the screen.

    Raises:
        LessonError: The file is missing or has another form.
    """
    path = FOLDER / name / f"{language}.md"
    try:
        parts = [path, *(bench / path.name for bench in bench_folders(path.parent))]
        text = "\n".join(part.read_text(encoding="utf-8") for part in parts)
        return parse(text, name, language, on_paper=on_paper)
    except OSError as error:
        raise LessonError(f"the lesson {name!r} has no text in {language!r}: {path.name} cannot be read") from error
    except ValueError as error:
        raise LessonError(f"{name}/{path.name}: {error}") from error


def bench_folders(lesson: Path) -> list[Path]:
    """Find the folders of the Lab's benches, in the `order` of their `bench.toml`; none for a lesson."""
    files = (lesson / BENCHES).glob("*/bench.toml")
    orders = {file.parent: tomllib.loads(file.read_text(encoding="utf-8"))["order"] for file in files}
    return sorted(orders, key=orders.__getitem__)


def parse(text: str, name: str, language: str, *, on_paper: bool = False) -> Lesson:
    """Parse the text of a file. Raises ValueError naming the error."""
    text = _SCREEN.sub("" if on_paper else lambda match: match[0].replace("[[", "").replace("]]", ""), text)
    glossary = _Glossary(language)
    title, summary, scenes = "", "", []
    parts = list(_sections(text))
    for number, (level, heading, body) in enumerate(parts):
        if level == 1:
            title, summary = heading, body.strip()
        elif level == 2:
            answer = parts[number + 1][2] if number + 1 < len(parts) and parts[number + 1][0] == 3 else None
            scenes.append(_scene(heading, body, answer, glossary))
    if not title or not scenes:
        raise ValueError("a lesson needs a title (# ...) and scenes (## name: ...)")
    names = [scene.name for scene in scenes]
    if len(set(names)) < len(names):
        raise ValueError(f"two scenes have the same name: {', '.join(names)}")
    return Lesson(name, language, title, summary, tuple(scenes))


def _sections(text: str) -> Iterator[tuple[int, str, str]]:
    """Split into sections: level of the heading, the heading, the text below it."""
    headings = list(_HEADING.finditer(text))
    for number, match in enumerate(headings):
        end = headings[number + 1].start() if number + 1 < len(headings) else len(text)
        yield len(match[1]), match[2].strip(), text[match.end() : end]


@dataclass
class _Glossary:
    """Words of the glossary, filled in as a lesson is read.

    Args:
        language: Of the lesson.
        introduced: Terms used before in the lesson; Korean adds the English word to the first use.
        explained: Terms used before in the scene; the first use carries the explanation.
    """

    language: str
    introduced: set[str] = field(default_factory=set)
    explained: set[str] = field(default_factory=set)

    def word(self, name: str) -> str:
        if name not in terms():
            raise ValueError(f"{{{name}}} is not in terms.toml")
        first = name not in self.introduced
        self.introduced.add(name)
        return terms()[name].word(self.language, first=first)

    def node(self, name: str) -> Node:
        word = self.word(name)
        if name in self.explained:
            return word
        self.explained.add(name)
        return ["dfn", {"title": terms()[name].about[self.language], "data-term": name}, [word]]


def _scene(heading: str, body: str, answer: str | None, glossary: _Glossary) -> Scene:
    match = _SCENE.fullmatch(heading)
    if not match:
        raise ValueError(f"a scene's heading is {heading!r}, but must be of the form 'name: title'")
    keys, math = {"tab": match[2], "section": ""}, []
    lines = body.strip("\n").splitlines()
    while lines and (key := _KEY.fullmatch(lines[0])):
        if key[1] == "math":
            math.append(_math(key[2], block=True))
        else:
            keys[key[1]] = key[2]
        lines.pop(0)
    text = "\n".join(lines)
    glossary.explained.clear()
    # A choice is a button, which holds nothing else that can be focused.
    choices = tuple(Choice(_inline(words, glossary.word), mark == "x") for mark, words in _CHOICE.findall(text))
    if choices and sum(choice.right for choice in choices) != 1:
        raise ValueError(f"the question {match[1]!r} needs exactly one right answer, marked [x]")
    if choices and answer is None:
        raise ValueError(f"the question {match[1]!r} needs its '### answer'")
    return Scene(
        name=match[1],
        title=match[2],
        tab=keys["tab"],
        section=keys["section"],
        math=math,
        prose=_paragraphs(_CHOICE.sub("", text), glossary.node),
        question=None if answer is None else Question(choices, _paragraphs(answer, glossary.node)),
    )


def _paragraphs(text: str, term: Callable[[str], Node]) -> list[Node]:
    """Parse Markdown into paragraphs; `term` makes the node of a glossary word."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    # Prose, emphasis, code and formulas are all that the stage shows; anything else in a file stays text.
    reader = MarkdownIt("zero").enable(["emphasis", "backticks", "escape"]).use(dollarmath_plugin)
    nodes: list[Node] = []
    for token in reader.parse(text):
        if token.type == "inline":
            nodes.append(["p", {}, _children(token.children or [], term)])
    return nodes


def inline(text: str, language: str) -> list[Node]:
    """Parse one paragraph outside a lesson. Raises ValueError naming the error."""
    return _inline(text, _Glossary(language).word)


def _inline(text: str, term: Callable[[str], Node]) -> list[Node]:
    paragraphs = _paragraphs(text, term)
    return paragraphs[0][2] if paragraphs else []


def _children(tokens: list[Any], term: Callable[[str], Node]) -> list[Node]:
    """Nest the tokens of a line."""
    levels: list[list[Node]] = [[]]
    for token in tokens:
        if token.nesting == 1:
            node = [token.tag, {}, []]
            levels[-1].append(node)
            levels.append(node[2])
        elif token.nesting == -1:
            levels.pop()
        elif token.type == "math_inline":
            levels[-1].append(_math(token.content, block=False))
        elif token.type == "code_inline":
            levels[-1].append(["code", {}, [token.content]])
        elif token.type in ("softbreak", "hardbreak"):
            levels[-1].append(" ")
        else:
            parts = enumerate(_TERM.split(token.content))  # every second one is the name of a term
            levels[-1].extend(term(part) if number % 2 else part for number, part in parts if part)
    return levels[0]


def _math(latex: str, *, block: bool) -> Node:
    """Convert LaTeX to a tree of MathML. Raises ValueError for unreadable LaTeX."""
    from latex2mathml.converter import convert

    try:
        tree = ElementTree.fromstring(convert(latex, display="block" if block else "inline"))
        if unknown := [text for text in tree.itertext() if text.startswith("\\")]:
            raise ValueError(f"{unknown[0]} is unknown")
        return _tree(tree)
    except Exception as error:  # the library has many kinds of them
        raise ValueError(f"the formula {latex!r} cannot be read: {error}") from error


def _tree(element: ElementTree.Element) -> Node:
    children: list[Node] = [element.text] if element.text else []
    for child in element:
        children.append(_tree(child))
        if child.tail:
            children.append(child.tail)
    return [element.tag.removeprefix(_MATHML), dict(element.attrib), children]
