"""What is told about hook points is what passes there."""

from __future__ import annotations

from pathlib import Path

import torch

from tests.core.tiny import run
from transformer_core.hooks.hook_list import describe_hook_points
from transformer_core.hooks.hook_sites import POINT_INFO
from transformer_core.hooks.points import POINTS, capture, hook_points
from transformer_core.model.transformer import Transformer

DOCS = Path(__file__).resolve().parents[3] / "docs" / "hooks.md"


def test_told_shapes_are_those_of_the_values(model: Transformer) -> None:
    c, (rows, source, target) = model.config, (2, 5, 4)
    numbers = {"batch": rows, "heads": c.num_heads, "d_k": c.d_k, "d_v": c.d_v, "d_ff": c.d_ff, "1": 1}
    numbers |= {"d_model": c.d_model, "vocab_size": c.vocab_size}
    with capture(model, POINTS) as seen:
        run(model, (source, 3), target)
    assert set(seen) == set(hook_points(model))
    for address, value in seen.items():
        assert len(seen.calls[address]) == 1
        site = hook_points(model)[address].site
        assert site is not None
        of_stack = source if address.startswith("encoder") else target
        keys = target if site.kind == "decoder" else source
        lengths = numbers | {"queries": of_stack, "positions": of_stack, "keys": keys}
        assert tuple(value.shape) == tuple(lengths[name] for name in site.shape), address
        if site.point == "weights":
            assert site.meaning.endswith("float32")
            assert value.dtype == torch.float32


def test_every_point_is_a_line(model: Transformer) -> None:
    lines = describe_hook_points(model).splitlines()
    names, points = [line.split()[0] for line in lines], hook_points(model)
    with capture(model, "all") as seen:
        run(model, (5, 3), 4)
    assert [seen.place(name).address for name in names] == list(points)
    (line,) = (line for line in lines if line.startswith("cross.2.values "))
    assert "(batch, heads=4, keys, d_v=5)" in line
    assert line.endswith("V of every head")


def test_the_page_has_the_same_table() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for point, info in POINT_INFO.items():
        assert f"| `{point}` | {info.where} | ({', '.join(info.shape)}) | {info.meaning} |" in text
    assert set(POINT_INFO) == set(POINTS)
