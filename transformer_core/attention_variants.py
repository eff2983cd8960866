"""Variants of attention, by the name that `ModelConfig.attention` has. Needs no torch.

A variant is registered in one place: its class, its costs, the options that it needs, and what can read its scores.
`register_variant` adds one from outside. A checkpoint only names its variant: loading imports no code.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

Feature = Literal["neuron_view", "decompose_score", "MarianMTModel", "the ONNX export"]
_ALL_FEATURES: frozenset[Feature] = frozenset(get_args(Feature))


class HeadSizes(Protocol):
    """Options of a model that determine the cost of its attention; `ModelConfig` has them."""

    @property
    def num_heads(self) -> int:
        """H."""

    @property
    def d_k(self) -> int:
        """Width of the queries and keys of one head."""

    @property
    def d_v(self) -> int:
        """Width of the values of one head."""


Parameters = Callable[[HeadSizes], int]
Operations = Callable[[HeadSizes, int, int, int], float]


@dataclass(frozen=True, kw_only=True)
class AttentionVariant:
    """A variant of multi-head attention.

    Args:
        build: The class, a subclass of `MultiHeadAttention`, or its name as `module:class`.
        build_restricted: Class for self-attention restricted to a window, likewise; None allows no window.
        extra_parameters: Trainable parameters of one attention beyond its four projections. Checked when one is built.
        operations: Multiply-adds of all heads for one sentence, beyond the projections, from the sizes, the numbers of
            queries and keys, and the pairs that may attend. None is unknown: `count` then refuses.
        requires: Option of the model -> its only value with this variant.
        supports: Features that take a score as the scaled product of query and key. All others refuse the variant.
    """

    build: type | str
    build_restricted: type | str | None = None
    extra_parameters: Parameters = lambda sizes: 0
    operations: Operations | None = None
    requires: Mapping[str, object] = field(default_factory=dict)
    supports: frozenset[Feature] = frozenset()

    def module_class(self, restricted: bool = False) -> Any:
        """Return the class of an attention, restricted to a window or not."""
        build = self.build_restricted if restricted else self.build
        assert build is not None, "ModelConfig allows no window here"
        return pkgutil.resolve_name(build) if isinstance(build, str) else build


def _weighted_products(sizes: HeadSizes, queries: int, keys: int, pairs: int) -> float:
    """Count one score and one weighted value of every pair in every head; an additive score without its tanh."""
    return float(pairs * sizes.num_heads * (sizes.d_k + sizes.d_v))


VARIANTS: dict[str, AttentionVariant] = {
    "dot-product": AttentionVariant(
        build="transformer_core.model.fast_attention:FastAttention",
        build_restricted="transformer_core.model.restricted:RestrictedAttention",
        operations=_weighted_products,
        supports=_ALL_FEATURES,
    ),
    "additive": AttentionVariant(
        build="transformer_core.model.additive:AdditiveAttention",
        extra_parameters=lambda sizes: sizes.num_heads * sizes.d_k,  # v of every head
        operations=_weighted_products,
        requires={"scaled": True},
    ),
}
_BUILT_IN = frozenset(VARIANTS)


def register_variant(name: str, variant: AttentionVariant) -> None:
    """Register a variant from outside, so that `ModelConfig(attention=name)` builds it; a second call replaces it.

    Raises:
        ValueError: The name belongs to a variant of this package, or is empty.
    """
    if not name or name in _BUILT_IN:
        raise ValueError(f"a variant cannot be named {name!r}; choose a name besides {', '.join(sorted(_BUILT_IN))}")
    VARIANTS[name] = variant


def supporting(feature: Feature) -> list[str]:
    """Return the names of the variants that support a feature."""
    return [name for name, variant in VARIANTS.items() if feature in variant.supports]
