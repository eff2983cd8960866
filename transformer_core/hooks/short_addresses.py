"""Short addresses of hook points: `cross.6.8.head_outputs` is head 8 of layer 6, `encoder.3.weights` a whole layer.

They count layers and heads from 1, as the screen does. Nothing else in the code does, so sets of layers or heads are
refused beside them.
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
        name: The address as given.
        address: Long address of the hook point.
        head: Counted from 0; None for the whole value.
    """

    name: str
    address: str
    head: int | None = None

    def __str__(self) -> str:
        head = "" if self.head is None else f", head {self.head}"
        return self.name if self.name == self.address else f"{self.name} = {self.address}{head}"


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
    found: list[Place] = []
    for name in [names] if isinstance(names, str) else names:
        if name in addresses:
            found.append(Place(name, name))
        elif name == "all" or name in POINTS:
            found += [Place(each, each) for each in addresses if name in ("all", each.rpartition(".")[2])]
        else:
            table = _short_names(tuple(addresses), heads)
            place = table.get(name) or table.get(f"{name}.{point}")
            if place is None:
                known = [*addresses, *table, *(each.removesuffix(f".{point}") for each in table)]
                wrong = str(name)[:_MAX_NAME]
                hint = nearest(wrong, known) or "; describe_hook_points(model) lists all"
                raise AddressError(f"{missing} {wrong}{hint}")
            found.append(replace(place, name=name))
    return found


@lru_cache(maxsize=16)
def _short_names(addresses: tuple[str, ...], heads: int) -> dict[str, Place]:
    """Return the place of every short address: kind, layer, head if there is one, point.

    A point that several parts of a layer have, such as `residual`, is the last one: the output of the layer.
    """
    found: dict[str, Place] = {}
    for address in addresses:
        site = site_of(address)
        if site.layer is None:
            continue
        stack, part = address.split(".")[0], address.split(".")[3]
        layer = f"{'cross' if part.startswith('cross') else stack}.{site.layer + 1}"
        found[f"{layer}.{site.point}"] = Place(address, address)
        for head in range(heads) if site.point in HEAD_POINTS else ():
            found[f"{layer}.{head + 1}.{site.point}"] = Place(address, address, head)
    return found


def captured_place(name: str, calls: Mapping[str, Sequence[Tensor]], heads: Collection[int] | None) -> Place:
    """Return the place of captured values that an address names; without a point it names the weights.

    Raises AddressError if nothing was captured there, or only some `heads`, among which no short address counts.
    """
    counts = (values[-1].shape[1] for values in calls.values() if values[-1].dim() == 4)
    count = max(counts, default=0) if heads is None else max(heads) + 1
    places = find_places(name, calls, count, "weights", "nothing was captured at")
    if len(places) != 1:
        raise AddressError(f"{name} names {len(places)} captured values, not one")
    if places[0].head is not None and heads is not None:
        raise AddressError(f"{name} counts from 1, but this capture holds only heads {sorted(heads)}, counted from 0")
    return places[0]


def edits_by_address(
    names: str | Collection[str] | Mapping[str, Change], change: Change | None, addresses: Collection[str], heads: int
) -> Iterator[tuple[set[str], Change]]:
    """Yield long addresses and the change there, which leaves all but the named head as it is."""
    if isinstance(names, Mapping) == (change is not None):
        raise ValueError("give either a mapping from addresses to changes, or addresses and one change")
    for given, each in names.items() if isinstance(names, Mapping) else [(names, change)]:
        assert each is not None
        places = find_places(given, addresses, heads, "head_outputs")
        yield {place.address for place in places if place.head is None}, each
        for place in places:
            if place.head is not None:
                yield {place.address}, _at_head(each, place.head)


def _at_head(change: Change, head: int) -> Change:
    def change_head(value: Tensor, site: Site) -> Tensor | None:
        changed = change(value, replace(site, head=head))
        if changed is None or changed.shape != value.shape:
            return changed
        result = value.clone()
        result[:, head] = changed[:, head]
        return result

    return change_head
