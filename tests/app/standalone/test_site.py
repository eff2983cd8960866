"""The site: every address leads to a file of its folder, every page keeps to its policy, the worker keeps all files."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import posixpath
import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from tests.app.read_html import Page
from tests.conftest import SITE
from tests.platforms.windows import no_name
from transformer_core.attention_maps import AttentionMaps, Kind
from transformer_core.cli import main
from viz_app.cli import PROGRAM
from viz_app.components.buffer import split_buffer
from viz_app.components.explorer.weights import pack_weights
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS, ROUTE
from viz_app.lessons.index import Stop
from viz_app.serving.models.translation_service import TranslationService
from viz_app.standalone.gpt_and_bert import render_gpt_and_bert
from viz_app.standalone.link_picture import head_wall, link_picture
from viz_app.standalone.live import live_weights
from viz_app.standalone.site_frame import SiteFrame, further_files
from viz_app.text import LANGUAGES, texts
from viz_app.text.glossary import terms

WORKER = "service-worker.js"
UNREAD = {
    "404.html",
    "headlight.json",
    "robots.txt",
    "sitemap.xml",
}  # no page loads them, nor the pictures of links


def files(site: Path) -> set[str]:
    return {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}


def pages(site: Path) -> dict[str, Page]:
    return {name: Page((site / name).read_text("utf-8")) for name in files(site) if name.endswith(".html")}


def addresses(page: Page) -> Iterator[str]:
    for _, attributes in page.tags:
        if attributes.get("rel") in ("canonical", "alternate"):
            continue  # must be absolute
        yield from (str(attributes[name]) for name in ("href", "src", "data-src") if name in attributes)
    told = next((text for _, attributes, text in page.texts if attributes.get("id") == "page"), "{}")
    yield from (value for name in ("url", "onward") if (value := json.loads(told).get(name)))


def test_every_disk_and_host_can_have_its_names(site: Path) -> None:
    """Windows and macOS tell no small letters from large ones; addresses have `/` on every system."""
    names = [path.relative_to(site).as_posix() for path in site.rglob("*")]
    assert len({name.lower() for name in names}) == len(names)
    assert not [name for name in names if any(map(no_name, name.split("/")))]
    assert "\\" not in (site / WORKER).read_text(encoding="utf-8").partition("\n")[0]


def test_every_address_is_relative_and_leads_to_a_file(site: Path) -> None:
    known, used, result = files(site), {WORKER, "manifest.webmanifest"}, pages(site)
    for name, page in result.items():
        if name == "404.html":
            continue  # is shown at any path
        for address in addresses(page):
            parts = urlsplit(address)
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), parts.path)) if parts.path else name
            assert not parts.scheme and not parts.netloc and not address.startswith("/"), (name, address)
            assert path in known, (name, address)
            ids = {str(each.get("id")) for _, each in result[path].tags} if parts.fragment else set()
            assert not parts.fragment or "=" in parts.fragment or parts.fragment in ids
            used.add(path)
    for style in (name for name in known if name.endswith(".css")):
        used |= {f"assets/{address}" for address in re.findall(r'url\("(.*?)"\)', (site / style).read_text("utf-8"))}
    manifest = json.loads((site / "manifest.webmanifest").read_text("utf-8"))
    assert manifest["start_url"] == "./" and {icon["src"] for icon in manifest["icons"]} <= known
    pictures = {name.replace(".html", ".png") for name in result if "/" in name}
    assert used | UNREAD | pictures | {"index.html"} == known


def test_pages_run_and_load_only_what_is_in_the_folder(site: Path) -> None:
    for name, page in pages(site).items():
        if name == "404.html":
            assert page.policy["default-src"] == ["'none'"] and "script-src" in page.policy
            continue
        assert page.policy["default-src"] == page.policy.get("style-src", ["'self'"]) == ["'self'"], name
        assert page.policy["base-uri"] == page.policy["form-action"] == ["'none'"]
        inside = {"font-src"} | ({"img-src"} if Path(name).stem in {entry.name for entry in LESSONS} else set())
        assert all(page.policy.get(each, ["'self'", "data:"]) == ["'self'", "data:"] for each in inside), "of its paper"
        allowed = {source for at, sources in page.policy.items() if at not in inside for source in sources}
        live = name.endswith(("/model-random.html", "/index.html"))
        assert allowed <= {"'self'", "'none'"} | ({"blob:", "'wasm-unsafe-eval'"} if live else set()), name
        assert page.policy.get("script-src", ["'self'"])[0] == "'self'"
        assert not live or page.policy["worker-src"] == ["'self'", "blob:"]
        for tag, attributes, text in page.texts:
            data = attributes.get("type") in ("application/json", "application/octet-stream")
            assert tag != "style" and (data or not text), name
        assert not any({"style", "onload", "onclick"} & attributes.keys() for _, attributes in page.tags)


def test_the_worker_lists_every_file_by_its_content(site: Path) -> None:
    told = re.match(r"const FILES = (.*?);\n", (site / WORKER).read_text("utf-8"))
    assert told is not None
    listed = json.loads(told[1])
    assert listed.keys() == {name for name in files(site) - {WORKER} - UNREAD if not name.endswith(".png")}
    for name, digest in listed.items():
        assert hashlib.sha256((site / name).read_bytes()).hexdigest() == digest
        if re.fullmatch(r"assets/[0-9a-f]{16}\.\w+", name):
            assert digest[:16] in name


def test_both_languages_have_the_same_pages_and_share_their_numbers(site: Path) -> None:
    names = {each: {name.partition("/")[2] for name in files(site) if name.startswith(each)} for each in ("en/", "ko/")}
    assert names["en/"] == names["ko/"]
    result = pages(site)
    shared = [
        {
            str(each.get("src") or each.get("data-src"))
            for tag, each in result[name].tags
            if tag == "script" and each.get("id") not in ("page", "lesson")  # the words
        }
        for name in ("en/masks.html", "ko/masks.html")
    ]
    assert shared[0] == shared[1] and any(address.endswith(".bin") for address in shared[0])


def test_the_route_leads_from_stop_to_stop(site: Path) -> None:
    result = pages(site)
    shown = [each.name for each in LESSONS if f"en/{each.name}.html" in result and each.name in ROUTE]
    stops = ["model-random", *shown, "questions"]
    for number, name in enumerate(stops):
        page = result[f"en/{name}.html"]
        ways = {each["rel"]: each["href"] for tag, each in page.tags if tag == "a" and "rel" in each}
        near = {"prev": stops[number - 1] if number else None, "next": next(iter(stops[number + 1 :]), None)}
        assert ways == {way: f"{each}.html" for way, each in near.items() if each}
        assert f"<span>{number + 1} of {len(stops)}</span>" in (site / f"en/{name}.html").read_text("utf-8")
        if name in shown:
            assert page.data["onward"] == ways["next"]


def test_every_page_has_the_same_header_and_marks_what_is_open(site: Path) -> None:
    fixed = ["index", "model-random", "model-learned-positions", "lessons", "questions", "glossary"]
    for path, page in pages(site).items():
        language, _, name = path.rpartition("/")
        if not language:
            continue  # leads to a language only, or to the start page
        start = next(place for place, (_, each) in enumerate(page.tags) if each.get("class") == "site-nav")
        links = [each for tag, each in page.tags[start:] if tag == "a" and "rel" not in each]
        addresses = [f"{each}.html" for each in fixed] + [f"../en/{name}", f"../ko/{name}"]
        assert [each["href"] for each in links[: len(addresses)]] == addresses
        here = {str(each["href"]) for each in links[: len(addresses)] if each.get("aria-current")}
        assert here == {f"../{language}/{name}"} | ({name} & {f"{each}.html" for each in fixed[1:]})


def test_the_glossary_has_every_term_that_explains_itself(site: Path) -> None:
    for language in LANGUAGES:
        text = unescape((site / language / "glossary.html").read_text("utf-8"))
        for name, term in terms().items():
            assert (f'<div id="{name}">' in text) == bool(term.about)
            assert not term.about or f"<dd>{term.about[language]}</dd>" in text
        letters = re.findall(r'<h2 id="letter-\d+">(.)</h2>', text)
        assert len(letters) == len(set(letters)) > 9 and re.findall(r'href="#letter-\d+">(.)</a>', text) == letters


def test_the_home_has_the_model_that_it_runs_and_leads_everywhere(site: Path, service: TranslationService) -> None:
    home, weights = pages(site)["en/index.html"], [name for name in files(site) if name.endswith(".weights")]
    assert [(site / name).read_bytes() for name in weights] == [live_weights(service)]
    [model] = home.data["models"]
    assert model == {"page": "model-random.html", "url": f"../{weights[0]}", "size": len(live_weights(service))}
    links = {str(each["href"]) for tag, each in home.tags if tag == "a" and "href" in each}
    assert {"model-random.html", "masks.html", "why.html", "questions.html", "gpt.html"} <= links
    text = (site / "en/index.html").read_text("utf-8")
    assert load_lesson("masks", "en").summary in text and "python -m viz_app class" in text


def test_the_halves_of_gpt_and_bert_are_those_of_the_model(site: Path, service: TranslationService) -> None:
    maps = service.translate("gpt", service.first_example).maps
    page = Page(render_gpt_and_bert(texts("en"), service, load_lesson("architecture", "en")).decode())
    kinds: tuple[tuple[str, Kind], ...] = (("s0b0", "decoder"), ("s1b0", "encoder"))
    for block, kind in kinds:
        data = next(text for _, attributes, text in page.texts if attributes.get("id") == block)
        header, packed = split_buffer(gzip.decompress(base64.b64decode(data)))
        assert header["kinds"].keys() == {kind}
        weights, tokens = maps.weights(kind), maps.keys(kind).tokens
        half = (
            AttentionMaps.from_arrays(decoder=weights, target_tokens=tokens)
            if kind == "decoder"
            else AttentionMaps.from_arrays(encoder=weights, source_tokens=tokens)
        )
        assert bytes(packed[: len(pack_weights(half).data.data)]) == bytes(pack_weights(half).data.data)
    assert "architecture.html?scene=after" in page.addresses
    assert "architecture" not in (site / "en/gpt.html").read_text("utf-8"), "this site lacks the lesson"


def meta(page: Page) -> dict[str, str]:
    """Description of a page by name or property."""
    rows = (each for tag, each in page.tags if tag == "meta" and "content" in each)
    return {str(each.get("name") or each.get("property")): str(each["content"]) for each in rows}


def test_every_page_says_what_a_link_to_it_shows(site: Path) -> None:
    told = {}
    for path, page in pages(site).items():
        if path == "404.html":
            continue
        words, name = meta(page), "en/index.html" if path == "index.html" else path
        assert words["og:title"] and 20 < len(words["description"]) < 300, path
        assert words["description"] == words["og:description"]
        assert words["twitter:card"] == "summary_large_image"
        assert words["og:image"] == f"{SITE}/{name.replace('.html', '.png')}"
        with Image.open(site / name.replace(".html", ".png")) as picture:
            assert (picture.format, picture.size) == ("PNG", (1200, 630))
        links = {(each["rel"], each.get("hreflang")): each["href"] for tag, each in page.tags if tag == "link"}
        file = name.partition("/")[2]
        assert links["canonical", None] == words["og:url"] == f"{SITE}/{name}"
        assert all(links["alternate", code] == f"{SITE}/{code}/{file}" for code in LANGUAGES)
        told[path] = words["og:title"]
    for language in LANGUAGES:
        assert told[f"{language}/masks.html"] == f"{load_lesson('masks', language).title} · Headlight"
    assert len({*told.values()}) >= len(told) - 4, "the titles differ, but for models and the start page"


def test_the_picture_of_a_link_shows_every_head(service: TranslationService) -> None:
    maps, t = service.translate("link", service.first_example).maps, texts("en")
    wall = np.asarray(head_wall(maps, t)).astype(int)
    brightness = wall[300:582].max(axis=2)
    layers, heads = maps.weights("cross").shape[:2]
    for axis, count in ((0, len(maps.kinds) * heads), (1, layers)):  # kinds side by side, a row for each layer
        lit = np.pad(brightness.max(axis=axis) > wall[0, 0].max(), 1)
        assert np.count_nonzero(np.diff(lit.astype(int)) == 1) == count
    titled = [link_picture(title, "One line.", head_wall(maps, t)) for title in ("Masks", "Masks", "W" * 200)]
    assert titled[0] == titled[1] != titled[2]


def test_search_engines_get_every_page_and_only_those(site: Path) -> None:
    schema = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    places = ElementTree.parse(site / "sitemap.xml").getroot().iterfind(f"{schema}url/{schema}loc")
    listed = [str(each.text).removeprefix(f"{SITE}/") for each in places]
    assert sorted(listed) == sorted(name for name in pages(site) if "/" in name)
    assert f"Sitemap: {SITE}/sitemap.xml" in (site / "robots.txt").read_text("utf-8").splitlines()
    missing = (site / "404.html").read_text("utf-8")
    assert 'href="/courses/heads/en/index.html"' in missing and 'href="/courses/heads/ko/index.html"' in missing


def test_without_an_address_nothing_is_absolute() -> None:
    assert further_files("", ["masks"]).keys() == {"404.html"}
    frame = SiteFrame(texts("ko"), [], [], [])
    head = frame.head(Stop("masks", 'A "b" <c>', "About & more."))
    assert "http" not in head and "canonical" not in head and '"../ko/masks.png"' in head
    assert "A &quot;b&quot; &lt;c&gt; · Headlight" in head and "About &amp; more." in head


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["{0}", "--address=ftp://example.org/"], "must be as https://example.org/heads/"),
        (["{0}", '--address=https://example.org/"><script>'], "must be as https://"),
        (["{0}", "--address=https://a@example.org/"], "must be as https://"),
        (["{0}", "--address=https://example.org/?a=b"], "must be as https://"),
        (["{0}", "--address=example.org"], "must be as https://"),
        (["{1}"], "letters, digits, dots and dashes"),
        (["{0}", "--force"], "is not a site"),
    ],
)
def test_what_makes_no_site_is_said(
    options: list[str], said: str, random_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = tmp_path / 'a "b#?<i>'
    shutil.copytree(random_checkpoint, odd)
    out = tmp_path / "out"
    if "--force" in options:
        out.mkdir()
        (out / "mine.txt").write_text("kept")
    given = [option.format(random_checkpoint, odd) for option in options]
    assert main(["site", "--checkpoint", *given, f"--out={out}"], PROGRAM) == 2
    assert said in capsys.readouterr().err and not (out / WORKER).exists()
