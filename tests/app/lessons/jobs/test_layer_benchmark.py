"""Layers that are timed: each computes what it should, and one measurement serves everybody."""

from __future__ import annotations

import threading

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.app.lessons.jobs.finished import SECONDS, finished
from viz_app.lessons.jobs.layer_benchmark import (
    HEAD,
    KINDS,
    REACH,
    WIDTHS,
    Kind,
    LayerBenchmark,
    Measurement,
    crossover_lengths,
    forward,
    machine,
    make_layers,
)


def heads_of(layer: nn.Module, name: str, x: Tensor) -> Tensor:
    """(1, n, d) -> (1, H, n, d_k) through one projection of an attention layer."""
    projected: Tensor = layer.get_submodule(name)(x)
    return projected.view(*projected.shape[:2], -1, HEAD).transpose(1, 2)


@torch.no_grad()
@pytest.mark.parametrize("n", [3, 40, 100])
@pytest.mark.parametrize("width", WIDTHS)
def test_layers_compute_what_torch_computes(width: int, n: int) -> None:
    x, layers = torch.randn(1, n, width), make_layers(width)
    found = {kind: forward(kind, layers[kind], x) for kind in KINDS}
    assert {out.shape for out in found.values()} == {x.shape}
    near = (torch.arange(n)[:, None] - torch.arange(n)).abs() <= REACH
    masks: dict[Kind, Tensor | None] = {"attention": None, "restricted": near}
    for kind, mask in masks.items():
        layer = layers[kind]
        queries, keys, values = (heads_of(layer, name, x) for name in ("w_q", "w_k", "w_v"))
        mixed = F.scaled_dot_product_attention(queries, keys, values, mask)
        expected = layer.get_submodule("w_o")(mixed.transpose(1, 2).flatten(2))
        torch.testing.assert_close(found[kind], expected, rtol=1e-4, atol=1e-5)
    own = dict(layers["recurrent"].named_parameters())
    state = torch.zeros(width)
    for at in range(n):  # h_t = tanh(W x_t + b + U h_(t-1) + c), one after the other
        read = F.linear(x[0, at], own["weight_ih_l0"], own["bias_ih_l0"])
        state = torch.tanh(read + F.linear(state, own["weight_hh_l0"], own["bias_hh_l0"]))
    torch.testing.assert_close(found["recurrent"][0, -1], state, rtol=1e-3, atol=1e-4)
    kernel, middle = layers["convolution"], n // 2
    assert isinstance(kernel, nn.Conv1d) and kernel.bias is not None
    seen = sum(kernel.weight[:, :, k] @ x[0, middle - 1 + k] for k in range(3)) + kernel.bias
    torch.testing.assert_close(found["convolution"][0, middle], seen, rtol=1e-3, atol=1e-4)


def test_two_watchers_see_one_measurement_and_it_leaves_nothing_behind() -> None:
    threads, go_on = threading.active_count(), threading.Event()

    def pause(seconds: float) -> None:
        go_on.wait(SECONDS)

    times = LayerBenchmark(lengths=(2, 4), pause=pause)
    assert times.watch().state == "idle" and times.total == 8
    assert times.start(64)
    assert not times.start(256), "a second visitor watches what goes on"
    views = times.watch(), times.watch()
    assert views[0].number == views[1].number == 1 and {view.width for view in views} == {64}
    assert threading.active_count() == threads + 1
    go_on.set()
    first, second = finished(times).watch(), times.watch()
    assert first == second and first.state == "done" and threading.active_count() == threads
    assert [(p.kind, p.n) for p in first.points[64]] == [(kind, n) for n in (2, 4) for kind in KINDS]
    assert all(0 < p.seconds < SECONDS for p in first.points[64])
    assert times.start(256)
    later = finished(times).watch()
    assert later.number == 2 and later.points[64] == first.points[64] and len(later.points[256]) == 8
    with pytest.raises(ValueError, match="must be one of 64, 256"):
        times.start(63)


def course(attention: list[float], recurrent: list[float]) -> list[Measurement]:
    kinds: tuple[tuple[Kind, list[float]], ...] = (("attention", attention), ("recurrent", recurrent))
    return [Measurement(kind, 2**at, seconds) for kind, times in kinds for at, seconds in enumerate(times)]


@pytest.mark.parametrize(
    ("attention", "expected"),
    [
        ([1, 1, 1], None),  # always faster
        ([3, 3, 3], None),  # always slower
        ([1, 1, 3], (2, 4)),
        ([3, 1, 3], (2, 4)),  # noise at the shortest
        ([1, 3, 1], None),  # not slower in the end
        ([1, 3, 3], (1, 2)),
        ([], None),
        ([1, 1], None),  # recurrence is further: the last length is not compared
    ],
)
def test_lines_cross_where_they_are_seen_to(attention: list[float], expected: tuple[int, int] | None) -> None:
    assert crossover_lengths(course(attention, [2.0, 2.0, 2.0])) == expected


def test_the_machine_is_told_by_what_python_knows() -> None:
    info = machine()
    assert info.threads == torch.get_num_threads() and info.torch == torch.__version__ and info.cores >= 1
