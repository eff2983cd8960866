"""Roles of heads: attention to the previous token, the next, the same, a separator, or the source of the output.

A head has a role where its strongest key is the key of the role, as for the positional heads of Voita et al. (2019).
Each role counts its places over several sentences: the queries for which it has a key. A head is named after a role
that explains most of its places; otherwise it may lean towards one. Source tokens are linked to target tokens by
occlusion (`occlusion_links`), so that aligners are not defined by attention itself.

Shape legend: L layers, H heads, Q queries, K keys, S source positions, T target positions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch

from transformer_core.analysis.attention_sinks import separators
from transformer_core.attention_maps import AttentionMaps, Kind
from transformer_core.data import make_batch
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import Translator

Role = Literal["previous", "next", "self", "separator", "aligner"]
ROLES_OF: dict[Kind, tuple[Role, ...]] = {
    "encoder": ("previous", "next", "self", "separator"),
    "decoder": ("previous", "self", "separator"),  # the next token is masked
    "cross": ("separator", "aligner"),
}
MIN_SHARE = 0.5  # of its places, for a role that names a head
MIN_DROP = 1.0  # nats lost by a token without the source token that it is linked to
_BATCH = 64  # rows

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

_OFFSETS: dict[Role, int] = {"previous": -1, "self": 0, "next": 1}
_Z = 1.96  # of a 95 % interval


@dataclass(frozen=True)
class HeadRole:
    """Fit of one role to one head.

    Args:
        role: The role.
        kind: Kind of attention.
        layer: Counted from 0.
        head: Counted from 0.
        share: Share of the places whose strongest key is a key of the role.
        at_least: Lower end of the 95 % interval of that share (Wilson 1927): few places give little confidence.
        weight: Mean attention weight on the keys of the role.
        chance: Mean weight of uniform attention on these keys.
        places: Counted queries.
    """

    role: Role
    kind: Kind
    layer: int
    head: int
    share: float
    at_least: float
    weight: float
    chance: float
    places: int

    @property
    def named(self) -> bool:
        """Whether the role explains most of the places and names the head."""
        return self.share >= MIN_SHARE

    @property
    def leans(self) -> bool:
        """Whether the head fits the role significantly better than uniform attention."""
        return self.at_least > self.chance


@dataclass(frozen=True, eq=False)
class RoleTable:
    """All roles of all heads of one kind of attention.

    Args:
        kind: Kind of attention.
        roles: R possible roles of this kind.
        hits: (R, L, H) places whose strongest key fits the role.
        weight: (R, L, H) attention weight on the keys of the role, summed over the places.
        places: (R,) queries for which the role has a key.
        chance: (R,) weight of uniform attention on the keys of the role, summed over the places.
    """

    kind: Kind
    roles: tuple[Role, ...]
    hits: npt.NDArray[np.int64]
    weight: FloatArray
    places: npt.NDArray[np.int64]
    chance: FloatArray

    @property
    def shares(self) -> FloatArray:
        """(R, L, H) share of the places that each role explains; 0 without places."""
        return np.asarray(self.hits / np.maximum(self.places, 1)[:, None, None])

    def of(self, role: Role, layer: int, head: int) -> HeadRole:
        """Return one role of one head. Raises ValueError for a role that this kind cannot have."""
        if role not in self.roles:
            raise ValueError(f"role is {role!r}, but {self.kind} heads have {', '.join(self.roles)}")
        number = self.roles.index(role)
        places = int(self.places[number])
        hits = int(self.hits[number, layer, head])
        return HeadRole(
            role=role,
            kind=self.kind,
            layer=layer,
            head=head,
            share=hits / places if places else 0.0,
            at_least=lower_bound(hits, places),
            weight=float(self.weight[number, layer, head]) / places if places else 0.0,
            chance=float(self.chance[number]) / places if places else 0.0,
            places=places,
        )

    def likeliest(self, layer: int, head: int) -> HeadRole:
        """Return the role that is furthest above chance for a head; see `HeadRole.named`."""
        candidates = [self.of(role, layer, head) for role in self.roles]
        return max(candidates, key=lambda role: role.share - role.chance)

    def best(self, role: Role) -> HeadRole:
        """Return the head that a role fits best, named or not."""
        shares = self.shares[self.roles.index(role)]
        layer, head = divmod(int(shares.argmax()), shares.shape[1])
        return self.of(role, layer, head)


def lower_bound(hits: int, places: int) -> float:
    """Return the lower end of Wilson's 95 % interval of a share; 0 without places."""
    if places == 0:
        return 0.0
    share, z = hits / places, _Z
    middle = share + z * z / (2 * places)
    half = z * math.sqrt(share * (1 - share) / places + z * z / (4 * places * places))
    return max(0.0, (middle - half) / (1 + z * z / places))


def role_keys(maps: AttentionMaps, kind: Kind, role: Role, links: BoolArray | None = None) -> BoolArray:
    """Return the keys of a role for each query.

    Args:
        maps: Maps of one sentence.
        kind: Kind of attention.
        role: One of `ROLES_OF[kind]`.
        links: (T, S) source positions of each target token, for aligners.

    Returns:
        (Q, K); a row without any True is not counted. Rows of separators are not counted, and separators are not
        neighbours: otherwise the roles could not be distinguished.

    Raises:
        ValueError: This kind cannot have the role, or links are missing for an aligner.
    """
    if role not in ROLES_OF[kind]:
        raise ValueError(f"role is {role!r}, but {kind} heads have {', '.join(ROLES_OF[kind])}")
    queries, keys = maps.queries(kind), maps.keys(kind)
    apart = separators(keys)
    if role == "aligner":
        if links is None or links.shape != (len(queries), len(keys)):
            shape = "none" if links is None else f"shape {links.shape}"
            raise ValueError(f"aligners need links of shape {(len(queries), len(keys))}, but there are {shape}")
        matches = links.copy()
    elif role == "separator":
        matches = np.broadcast_to(apart, (len(queries), len(keys))).copy()
    else:
        matches = np.eye(len(queries), len(keys), k=_OFFSETS[role], dtype=bool)
        matches[:, apart] = False
    matches[separators(queries)] = False
    return matches


def find_roles(sentences: Sequence[AttentionMaps], kind: Kind, links: Sequence[BoolArray] | None = None) -> RoleTable:
    """Measure all roles of all heads of one kind over several sentences.

    Args:
        sentences: Maps of the sentences, all from one model.
        kind: Kind of attention.
        links: Links of each sentence for `role_keys`; None skips aligners.

    Raises:
        ValueError: There is no sentence.
    """
    if not sentences:
        raise ValueError("no sentences to find roles in")
    roles = tuple(role for role in ROLES_OF[kind] if role != "aligner" or links is not None)
    shape = sentences[0].weights(kind).shape[:2]
    hits = np.zeros((len(roles), *shape), dtype=np.int64)
    weight = np.zeros((len(roles), *shape))
    places = np.zeros(len(roles), dtype=np.int64)
    chance = np.zeros(len(roles))
    for number, maps in enumerate(sentences):
        weights = maps.weights(kind).astype(np.float64)  # (L, H, Q, K)
        strongest = weights.argmax(axis=3)  # (L, H, Q)
        seen = _visible(weights.shape[2], weights.shape[3], causal=kind == "decoder")
        for r, role in enumerate(roles):
            matches = role_keys(maps, kind, role, None if links is None else links[number])
            rows = np.flatnonzero(matches.any(axis=1))
            hits[r] += matches[rows, strongest[:, :, rows]].sum(axis=2)
            weight[r] += (weights[:, :, rows] * matches[rows]).sum(axis=(2, 3))
            places[r] += len(rows)
            chance[r] += (matches[rows] & seen[rows]).sum(axis=1) @ (1 / seen[rows].sum(axis=1))
    return RoleTable(kind, roles, hits, weight, places, chance)


def _visible(queries: int, keys: int, *, causal: bool) -> BoolArray:
    """Return (Q, K), True for visible keys."""
    everything = np.ones((queries, keys), dtype=bool)
    return np.tril(everything) if causal else everything


@torch.no_grad()
def occlusion_drops(
    translator: Translator, source: Encoding, target_ids: Sequence[int], finished: bool = True
) -> FloatArray:
    """Return the log-probability that each target token loses without one source token in encoder and decoder.

    Args:
        translator: The model.
        source: S - 1 tokens; `</s>` follows.
        target_ids: T - 1 tokens; `</s>` follows.
        finished: False for a truncated translation: T tokens without `</s>`.

    Returns:
        (T, S) drops in nats; the column of `</s>`, which is never masked, is 0.
    """
    batch = make_batch([source.ids], [list(target_ids)], translator.tokenizer.special)
    batch = batch.to(translator.model.embedding.weight.device)
    length = batch.source.shape[1]
    visible = ~torch.eye(length, dtype=torch.bool, device=batch.source.device)
    visible[-1] = True  # the last row masks nothing, for comparison
    drops = []
    whole = None
    for start in reversed(range(0, length, _BATCH)):  # the comparison comes first
        rows = range(start, min(start + _BATCH, length))
        count = len(rows)
        logits = translator.model(
            batch.source.expand(count, -1), batch.inputs.expand(count, -1), visible[rows][:, None, None, :]
        )
        log_p = torch.log_softmax(logits.float(), dim=-1)
        of_tokens = log_p.gather(2, batch.outputs.expand(count, -1)[:, :, None]).squeeze(2)  # (rows, T)
        whole = of_tokens[-1] if whole is None else whole
        drops.append((whole - of_tokens).cpu().double().numpy())
    of_all = np.asarray(np.concatenate(drops[::-1]).T)
    return of_all if finished else of_all[:-1]


def occlusion_links(
    translator: Translator,
    source: Encoding,
    target_ids: Sequence[int],
    finished: bool = True,
    min_drop: float = MIN_DROP,
) -> BoolArray:
    """Link each target token to the source token whose occlusion costs it most, if the drop is large enough.

    Args:
        translator: The model.
        source: See `occlusion_drops`.
        target_ids: See `occlusion_drops`.
        finished: See `occlusion_drops`.
        min_drop: Smallest drop for a link, in nats.

    Returns:
        (T, S) with at most one True in a row.
    """
    drops = occlusion_drops(translator, source, target_ids, finished)
    links = np.zeros(drops.shape, dtype=bool)
    links[np.arange(len(drops)), drops.argmax(axis=1)] = drops.max(axis=1) >= min_drop
    return links
