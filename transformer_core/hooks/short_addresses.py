"""Short addresses of hook points: `cross.6.8.head_outputs` is head 8 of layer 6, `encoder.3.weights` a whole layer.

Layers and heads count from 1. `cross` or `cross.weights` names all layers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from torch import Tensor, nn

from transformer_core.hooks.hook_sites import HEAD_POINTS, POINTS, Point, Site, nearest, site_of

Change = Callable[[Tensor, Site], Tensor | None]
_MAX_NAME = 100  # characters of a wrong address that is compared with all others


class HasModel(Protocol):
    """Holder of a model, such as a Translator."""

    @property
    def model(self) -> nn.Module:
        """The Transformer."""


class AddressError(ValueError, KeyError):
    """Address that a model or a capture lacks; the message names the nearest one."""

    __str__ = Exception.__str__  # KeyError quotes its message


@dataclass(frozen=True)
class Place:
    """Hook point, or one head there, that an address names.

    Args:
        name: Short address with its point; the long one where there is no short one.
        address: Long address of the hook point.
        head: Its index along the axis of heads; None for the whole value.
    """

    name: str
    address: str
    head: int | None = None


def find_places(
    names: str | Iterable[str],
    addresses: Collection[str],
    heads: int,
    point: Point,
    missing: str = "there is no hook point",
) -> list[Place]:
    """Return the places of names: addresses, points such as `weights`, or `all`. Raises AddressError for a wrong one.

    `addresses` exist, with H `heads` in each attention; `point` is that of a short address without one.
    """
    matches: list[Place] = []
    for name in [names] if isinstance(names, str) else names:
        if name in addresses:
            matches.append(Place(name, name))
        elif name == "all" or name in POINTS:
            matches += [Place(each, each) for each in addresses if name in ("all", each.rpartition(".")[2])]
        else:
            table = _short_names(tuple(addresses), heads)
            places = table.get(name) or table.get(f"{name}.{point}")
            if places is None:
                known = [*addresses, *table, *(each.removesuffix(f".{point}") for each in table)]
                wrong = str(name)[:_MAX_NAME]
                hint = nearest(wrong, known) or "; describe_hook_points(model) lists all"
                raise AddressError(f"{missing} {wrong}{hint}")
            matches += places
    return matches


@lru_cache(maxsize=16)
def _short_names(addresses: tuple[str, ...], heads: int) -> dict[str, list[Place]]:
    """Return the places of every short address: kind, layer and head if there are any, point.

    A point that several parts of a layer have, such as `residual`, is the last one: the output of the layer.
    """
    places_of: dict[str, list[Place]] = {}
    for address in addresses:
        site = site_of(address)
        if site.layer is None:
            continue
        stack, part = address.split(".")[0], address.split(".")[3]
        kind = "cross" if part.startswith("cross") else stack
        layer = f"{kind}.{site.layer + 1}"
        whole = f"{layer}.{site.point}"
        of_kind = places_of.setdefault(f"{kind}.{site.point}", [])
        of_kind[:] = [*(place for place in of_kind if place.name != whole), Place(whole, address)]
        places_of[whole] = [Place(whole, address)]
        for head in range(heads) if site.point in HEAD_POINTS else ():
            name = f"{layer}.{head + 1}.{site.point}"
            places_of[name] = [Place(name, address, head)]
    return places_of


def short_names(addresses: Collection[str]) -> dict[str, str]:
    """Return the short address of each long one; the long one itself where there is no short one."""
    table = _short_names(tuple(addresses), 0)
    short = {place.address: place.name for places in table.values() for place in places}
    return {address: short.get(address, address) for address in addresses}


def captured_place(name: str, calls: Mapping[str, Sequence[Tensor]]) -> Place:
    """Return the place of captured values that an address names; without a point it names the weights.

    Raises AddressError if nothing was captured there.
    """
    heads = max((values[-1].shape[1] for values in calls.values() if values[-1].dim() == 4), default=0)
    places = find_places(name, calls, heads, "weights", "nothing was captured at")
    if len(places) != 1:
        raise AddressError(f"{name} names {len(places)} captured values, not one")
    return places[0]


def edits_by_address(
    names: str | Collection[str] | Mapping[str, Change], change: Change | None, addresses: Collection[str], heads: int
) -> Iterator[tuple[set[str], Change]]:
    """Yield long addresses and the change there, which leaves all but the named head as it is."""
    if isinstance(names, Mapping) == (change is not None):
        raise ValueError("give either a mapping from addresses to changes, or addresses and one change")
    for name, each in names.items() if isinstance(names, Mapping) else [(names, change)]:
        assert each is not None
        places = find_places(name, addresses, heads, "head_outputs")
        yield {place.address for place in places if place.head is None}, each
        for place in places:
            if place.head is not None:
                yield {place.address}, _at_head(each, place.head)


def _at_head(change: Change, head: int) -> Change:
    def change_head(value: Tensor, site: Site) -> Tensor | None:
        before = value.clone()  # a change may write into it
        changed = change(before, replace(site, head=head))
        if changed is None:
            changed = before
        if changed.shape != value.shape:
            return changed
        result = value.clone()
        result[:, head] = changed[:, head]
        return result

    return change_head
