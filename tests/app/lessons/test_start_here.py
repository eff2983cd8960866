"""Scenes with which each kind of reader begins: they exist, named as the lessons name them."""

from __future__ import annotations

import re
from html import unescape

from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSONS
from viz_app.lessons.start_here import READERS, start_html
from viz_app.text import texts


def test_every_reader_begins_with_five_scenes_that_exist(language: str) -> None:
    html = start_html(texts(language), {entry.name for entry in LESSONS}, "{}.html?scene={}".format)
    links = re.findall(r'<a class="card" href="(.+?)\.html\?scene=(.+?)" data-card="(.+?)">(.+?)</a>', html)
    assert [stop for _, _, stop, _ in links] == [stop for stops in READERS.values() for stop in stops]
    assert len(READERS) == 3 and all(len(set(stops)) == 5 for stops in READERS.values())
    for name, scene, _, title in links:
        assert unescape(title) in {each.title for each in load_lesson(name, language).scenes if each.name == scene}
