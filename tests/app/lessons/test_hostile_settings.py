"""Settings with values that no control gives: every scene has its numbers all the same."""

from __future__ import annotations

import json

import pytest

from tests.app.lessons.conftest import Visit
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import STAGES
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage.state import settings_from_param

HOSTILE = (
    "at:1e9,head:-5,k:1e9,layer:99,place:-3,p:7,epsilon:9,part:x,side:on,first:1e9,second:-1,pickedat:0,picked:a.b.c",
    "head:on,at:off,width:1024,warmup:-1,size:0,pair:x,budget:-7,kind:9,q:zz,k:zzzzzzzzzzzzzzzzzzzzzzzz,d:1024,r:-3",
)


@pytest.mark.parametrize("name", STAGES)
def test_hostile_settings_give_numbers_all_the_same(name: str, visit: Visit) -> None:
    module = lesson_module(name)
    for scene in load_lesson(name, "en").scenes:
        for settings in HOSTILE:
            context = visit(scene.name, **settings_from_param(settings))
            data = module.data(context)
            json.dumps([dict(data.values), dict(data.answers)], allow_nan=False)
            module.selection(scene.name, context)
            module.recipe(scene.name, context)
