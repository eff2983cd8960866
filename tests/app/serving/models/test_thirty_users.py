"""Thirty sessions at once against the real server, over its own websocket protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.server.visitor import Visitor, visiting
from tests.browser.served import AppServer
from transformer_core.translator import Translator
from viz_app.text.examples import EXAMPLES

pytestmark = pytest.mark.process

USERS = 30


@pytest.fixture
def server(random_checkpoint: Path, tmp_path: Path) -> Iterator[AppServer]:
    result = AppServer(tmp_path / "log", HEADLIGHT_CHECKPOINT=str(random_checkpoint))
    yield result
    result.stop()


async def visit(address: str, text: str) -> Visitor:
    async with visiting(address) as visitor:
        await visitor.open(text=text)
    return visitor


async def all_visits(address: str, sentences: list[str]) -> list[Visitor]:
    return list(await asyncio.gather(*(visit(address, text) for text in sentences)))


def test_thirty_users_each_see_their_own_sentence(server: AppServer, random_checkpoint: Path) -> None:
    examples = list(EXAMPLES.values())
    # Half of the class opens the same example, the others type something of their own.
    own = [f"{examples[i % len(examples)]} {examples[(i + 1 + i // 12) % len(examples)]}" for i in range(USERS // 2)]
    sentences = [*own, *[examples[0]] * (USERS - len(own))]
    visitors = asyncio.run(all_visits(server.address, sentences))
    tokenizer = Translator.load(random_checkpoint).tokenizer
    for text, visitor in zip(sentences, visitors, strict=True):
        assert not visitor.errors
        assert visitor.source == (*tokenizer.encode(text).tokens, "</s>"), text
    assert len({visitor.translation for visitor in visitors[len(own) :]}) == 1
