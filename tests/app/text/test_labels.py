"""The labels: complete, alike and used in both languages."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from viz_app.components.modules import join_modules
from viz_app.lessons.catalogue import STAGES
from viz_app.lessons.labels import labels
from viz_app.text import LANGUAGES, best_language, fill, parser_wording, texts

APP = Path(__file__).resolve().parents[3] / "viz_app"
# Written without a space after a word; right after a placeholder nobody can tell which of the two forms is right.
# A percentage is always read 퍼센트, so its particle is known.
DOUBTFUL = re.compile(r"\{(?!weight\}|percent\})\w+\}['\"’”»)\]]?(?:은|는|이|가|을|를|과|와|으로|로|이라|라고|이며|며)")
BOTH_FORMS = re.compile(
    r"\((?:으|이)\)|[은는이가을를과와]\([은는이가을를과와]\)"
)  # 0.1(으)로: a form letter's particle


def tables_in(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def labels_in_folder(lesson: str, language: str) -> dict[str, Any]:
    """Labels of a lesson; the smallest lessons have none. All tests demand the same keys in both languages."""
    files = sorted((APP / "lessons" / lesson).rglob(f"labels.{language}.toml"))
    tables = [tables_in(file) for file in files]
    assert len(set().union(*tables)) == sum(map(len, tables)), "a label stands in one folder"
    return {key: label for table in tables for key, label in table.items()}


def all_labels(language: str) -> dict[str, str]:
    tables = tables_in(APP / "text" / f"{language}.toml")
    tables |= {f"lesson_{name}": labels_in_folder(name, language) for name in STAGES}
    return {f"{table}.{key}": label for table, entries in tables.items() for key, label in entries.items()}


def placeholders(label: str) -> set[str]:
    return set(re.findall(r"\{([a-z_]+)\}", label))


def test_every_language_has_the_keys_and_placeholders_of_english(language: str) -> None:
    english, other = all_labels("en"), all_labels(language)
    assert sorted(other) == sorted(english)
    assert not {key for key in english if placeholders(english[key]) != placeholders(other[key])}
    assert not [key for key, label in other.items() if not label.strip()]
    bare = {key: re.sub(r"\{[a-z_]+(\|[^{}|]+\|[^{}|]+)?\}", "", label) for key, label in other.items()}
    assert not [key for key, label in bare.items() if set(label) & set("{}")], "a brace that is no placeholder"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("de", ("German", "독일어")),
        ("pt-BR", ("Portuguese", "포르투갈어")),
        ("tr", ("Turkish", "튀르키예어")),
        ("nb", ("Norwegian Bokmål", "보크몰 노르웨이어")),  # not 보크말, as CLDR has it
        ("zxx", ("tree", "구문 트리")),
        ("", ("the source language", "원문 언어")),
        ("xx-none", ("xx-none", "xx-none")),
    ],
)
def test_names_of_languages(code: str, names: tuple[str, str]) -> None:
    assert tuple(texts(language).language_name(code) for language in ("en", "ko")) == names


def test_no_korean_particle_follows_a_placeholder() -> None:
    values = {
        key: label for key, label in all_labels("ko").items() if DOUBTFUL.search(label) or BOTH_FORMS.search(label)
    }
    assert not values
    assert not [path for path in APP.rglob("ko.md") if BOTH_FORMS.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("units are set tight", r"[\d}] (%|MB|MiB|kB|mm|pt|dpi|nat|분|시간)(?![A-Za-z가-힣])"),
        ("a question ends in -까요", r"[가-힣]\?(?<!까요\?)"),
        ("one word for a teacher, 교사", "선생님|교수자|강사"),
        ("one word for the paper's base", "기준 모델|베이스|(base|big) 모델"),
        ("vectors have a dimension, 차원", r"너비:? \{?(d|each)\b|너비 \$d|모델의 (너비|폭)|폭이 \d"),
        ("a price is not cheap, but low", "쌉니다|비쌉니다|비쌀까요"),
        ("bold ends before a bracket, or Markdown does not see its end", r"[)”’]\*\*[가-힣]"),
        ("models are trained by somebody", "똑같이 학습했|학습한 (행렬|위치|표)"),
    ],
)
def test_korean_follows_its_style(rule: str, broken: str) -> None:
    """CONTRIBUTING.md, Korean."""
    files = [*APP.rglob("ko.md"), *APP.rglob("*ko.toml"), APP.parent / "docs" / "teaching.ko.md"]
    lines = {f"{file.name}: {line}" for file in files for line in file.read_text(encoding="utf-8").splitlines()}
    assert not [line for line in lines if re.search(broken, line)], rule


def test_a_korean_title_is_a_noun() -> None:
    titles = [line for file in APP.rglob("ko.md") for line in re.findall("(?m)^##? .*", file.read_text("utf-8"))]
    assert len(titles) > 50 and not [title for title in titles if re.search("(다|[는을]가|까|요|면)[?.]?$", title)]


def test_every_korean_label_is_korean() -> None:
    """A label without Hangul must be a name or a symbol that is the same in English, or hold no words at all."""
    english, korean = all_labels("en"), all_labels("ko")
    words = {key: re.sub(r"\{\w+\}", "", label) for key, label in korean.items()}
    left = {
        key
        for key, label in words.items()
        if re.search("[A-Za-z]{3}", label) and not re.search("[가-힣]", label) and korean[key] != english[key]
    }
    assert not left


def entry_of(table: str) -> list[Path]:
    """The entry module of the browser component that is handed this table whole; none where Python alone reads it."""
    if table == "lesson":  # what all lessons share
        return list(APP.rglob("provide.js"))
    name = "explorer" if table == "one_sequence" else table.removeprefix("lesson_")
    modules = (path for path in APP.rglob("*.js") if name in path.relative_to(APP).parts)
    return [path for path in modules if path.stem in ("main", path.parent.name) or _is_entry(path)]


def _is_entry(path: Path) -> bool:
    return "export default" in path.read_text(encoding="utf-8")


@cache
def names_in_javascript(entry: Path) -> tuple[set[str], list[re.Pattern[str]]]:
    """Names by which a component may ask for labels: properties, strings, names taken out of them, templates."""
    code = re.sub(r"(?m)(?<!:)//.*$", "", join_modules(entry))
    names = {*re.findall(r"\b(?:texts|labels|words)\.(\w+)", code), *re.findall(r"[\"'`](\w+)[\"'`]", code)}
    for taken in re.findall(r"\{([^{}]*)\} = [\w.]*\b(?:texts|labels|words)\b", code):
        names |= set(re.findall(r"\w+", taken))
    templates = [re.split(r"\$\{[^}]*\}", text) for text in re.findall(r"`(\w*(?:\$\{[^{}`]+\}\w*)+)`", code)]
    return names, [re.compile(r"\w+".join(map(re.escape, parts))) for parts in templates if any(parts)]


@cache
def strings_in_python(path: Path) -> tuple[set[str], list[re.Pattern[str]]]:
    """Every string and option of a figure in a file, and a pattern for every f-string that begins with letters."""
    constants: set[str] = set()
    patterns: list[re.Pattern[str]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            constants.add(node.value)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(node.value, ast.Call):
            constants |= {node.target.id} if getattr(node.value.func, "id", "") == "option" else set()
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            parts = [re.escape(str(v.value)) if isinstance(v, ast.Constant) else r"\w+" for v in node.values]
            patterns.append(re.compile("".join(parts)))
    return constants, patterns


def unused(labels: Iterable[str]) -> list[str]:
    """Labels without a use: by table and key in Python; by the key alone where the table is handed over.

    A key alone counts only where its table is: in the code of the component that gets it, in a Python file that takes
    this table, or as a string of Python where an f-string fills the key in.
    """
    files = [strings_in_python(path) for path in APP.rglob("*.py")]
    pages = [path.read_text(encoding="utf-8") for path in APP.rglob("*.html")]  # templates name labels in braces
    files += [(set(re.findall(r"\{(\w+\.\w+)\}", page)), []) for page in pages]
    left = []
    for table, keys in groupby(labels, lambda label: label.partition(".")[0]):
        any_key = re.escape(f"{table}.") + r"\w+"  # an f-string that says nothing of the key
        places = [names_in_javascript(entry) for entry in entry_of(table)]
        places += [file for file in files if table in file[0]]
        if any(p.pattern == any_key for _, patterns in files for p in patterns):
            places += files
        for label in keys:
            key = label.partition(".")[2]
            named = any(
                label in constants or any(p.fullmatch(label) for p in patterns if p.pattern != any_key)
                for constants, patterns in files
            )
            if not named and not any(key in names or any(p.fullmatch(key) for p in ps) for names, ps in places):
                left.append(label)
    return left


def test_every_label_is_used() -> None:
    labels = all_labels("en")
    # Codes of languages come from the checkpoints.
    assert not [label for label in unused(labels) if not re.fullmatch(r"languages\.([a-z]{2,3}|unknown)", label)]


def test_a_word_of_another_component_makes_no_label_used() -> None:
    assert not unused(["index.shifted", "index.minutes"])
    others = ["growth.finding_pin", "lesson_why.shifted", "frame.shifted", "explorer.minutes"]
    assert unused(others) == others


def test_what_reads_otherwise_for_a_parser_is_a_label_with_the_same_placeholders(language: str) -> None:
    usual, tables = all_labels(language), parser_wording(language)
    reworded = {f"{table}.{key}": label for table, keys in tables.items() for key, label in keys.items()}
    assert reworded.keys() <= usual.keys()
    assert not [key for key, label in reworded.items() if placeholders(label) != placeholders(usual[key])]
    assert not [key for key, label in reworded.items() if label == usual[key] or DOUBTFUL.search(label)]
    other = parser_wording("en")
    assert {name: set(keys) for name, keys in tables.items()} == {name: set(keys) for name, keys in other.items()}
    assert labels(language, parses=True)("lesson_lab.whole") == reworded["lesson_lab.whole"]
    assert texts(language, parses=True)("explorer.translation") == reworded["explorer.translation"]
    assert texts(language)("explorer.translation") == usual["explorer.translation"]


@pytest.mark.parametrize(("language", "word"), [("en", "ranslat"), ("ko", "번역")])
def test_of_a_tree_no_label_of_the_explorer_and_the_lab_says_translation(language: str, word: str) -> None:
    t = labels(language, parses=True)
    said = [(f"{name}.{key}", label) for name in ("explorer", "lesson_lab") for key, label in t.table(name).items()]
    assert not [key for key, label in said if word in label]


def test_user_text_is_never_a_format() -> None:
    assert fill("{a} and {b}", a="{b}", b="{0.__class__}") == "{b} and {0.__class__}"
    with pytest.raises(KeyError):
        fill("{a}", b="1")


def test_a_missing_label_is_an_error() -> None:
    with pytest.raises(KeyError, match=r"no text 'no_such_label' in \[translate\] of text/en.toml"):
        texts("en")("translate.no_such_label")
    with pytest.raises(KeyError, match=r"no table \[no_such_table\] in text/ko.toml"):
        texts("ko").table("no_such_table")
    with pytest.raises(KeyError, match=r"no text 'nothing' in \[lesson_masks\] of lessons/masks/labels.ko.toml"):
        labels("ko")("lesson_masks.nothing")
    with pytest.raises(ValueError, match=", ".join(LANGUAGES)):
        texts("xx")


def test_a_table_is_a_copy_and_not_added_twice() -> None:
    texts("en").table("nav").clear()
    assert texts("en").table("nav")
    with pytest.raises(ValueError, match="nav"):
        texts("en").with_tables({"nav": {}})


@pytest.mark.parametrize(
    ("wanted", "locale", "expected"),
    [
        (None, None, "en"),
        (None, "ko-KR", "ko"),
        (None, "ko_KR", "ko"),
        (None, "fr-FR", "en"),
        ("en", "ko-KR", "en"),
        ("xx", "ko", "ko"),
        ("../ko", "en", "en"),
    ],
)
def test_the_language_follows_the_link_then_the_browser(wanted: str | None, locale: str | None, expected: str) -> None:
    assert best_language(wanted, locale) == expected


def test_the_labels_of_a_lesson_lie_in_its_folder(language: str) -> None:
    """Plain keys, no tables; the labels of the app hold none of them."""
    for name in STAGES:
        written = labels_in_folder(name, language)
        assert all(isinstance(label, str) for label in written.values())
        assert labels(language).table(f"lesson_{name}") == written
    assert not [table for table in tables_in(APP / "text" / f"{language}.toml") if table.startswith("lesson_")]


@pytest.mark.parametrize(("count", "shown"), [(0, "0 steps"), (1, "1 step"), ("1", "1 step"), ("1,000", "1,000 steps")])
def test_a_label_counts(count: object, shown: str) -> None:
    assert fill("{count} {count|step|steps}", count=count) == shown
