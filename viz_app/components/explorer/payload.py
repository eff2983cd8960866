"""Everything that the explorer shows of one translation, as one byte buffer.

Layout: ``[uint32 length of the header][header: JSON, UTF-8, padded with spaces][weights: uint16]``, little-endian. The
header has a length that keeps the weights on an even address. A weight w is stored as round(65535 w), so a value on
screen is within 1/131070 of the true one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.attention_maps import KINDS, AttentionMaps, Axis
from viz_app.components.explorer.selection import Selection
from viz_app.figures.colour import MASK_HATCH, THEMES, kind_colour, scale

FORMAT_VERSION = 1
FULL = 65_535  # the uint16 that stands for a weight of 1


@dataclass(frozen=True)
class Step:
    """How sure the model was of one piece that it wrote.

    Args:
        probability: Of the piece that stands in the translation, 0 to 1.
        alternatives: Runner-up pieces with their probabilities, most probable first.
    """

    probability: float
    alternatives: tuple[tuple[str, float], ...] = ()


def pack(
    maps: AttentionMaps,
    *,
    steps: Sequence[Step],
    texts: Mapping[str, str],
    selection: Selection,
    gloss_head: tuple[int, int] | None = None,
    follow: bool = False,
    source_language: str = "en",
    target_language: str = "de",
) -> bytes:
    """Packs the maps of one translation for the browser.

    Args:
        maps: Every head of the translation.
        steps: One for each position of `maps.outputs`.
        texts: The table ``[explorer]`` in the reader's language.
        selection: Where a fresh component starts; fitted to the maps.
        gloss_head: (layer, head) of the encoder-decoder head whose favourite source words stand under the translation
            until another one is selected. None takes the selected head when its kind is "cross", else the first head
            of the last layer.
        follow: Whether a component that already shows another translation takes this selection over as well.
        source_language: BCP 47 code of the source, for fonts and screen readers.
        target_language: BCP 47 code of the translation.

    Returns:
        The buffer; its header carries `id`, a hash of everything in it but the selection and the head of the gloss.

    Raises:
        ValueError: `steps` does not fit the outputs, or a weight is not a number from 0 to 1.
    """
    if len(steps) != len(maps.outputs):
        raise ValueError(f"{len(steps)} steps for {len(maps.outputs)} written pieces; one step each is needed")
    fitted = selection.fitted(maps)
    if gloss_head is None:
        gloss_head = (fitted.layer, fitted.head) if fitted.kind == "cross" else (maps.cross.shape[0] - 1, 0)
    weights = np.concatenate([_quantised(maps.weights(kind)).ravel() for kind in KINDS])
    header: dict[str, Any] = {
        "version": FORMAT_VERSION,
        "kinds": _shapes(maps),
        "axes": {name: _axis(getattr(maps, name)) for name in ("source", "inputs", "outputs")},
        "finished": maps.finished,
        "steps": [[float(step.probability), [[piece, float(p)] for piece, p in step.alternatives]] for step in steps],
        "languages": {"source": source_language, "target": target_language},
        "colours": _colours(),
        "texts": dict(texts),
    }
    # A short hash is enough to tell two translations of one session apart.
    digest = hashlib.blake2b(json.dumps(header).encode() + weights.tobytes(), digest_size=12).hexdigest()
    header |= {"id": digest, "selection": fitted.to_dict(), "gloss": list(gloss_head), "follow": follow}
    return _join(header, weights.tobytes())


def starting_at(payload: bytes, selection: Selection) -> bytes:
    """The same payload for a component that starts with another selection; unchanged when it makes others follow."""
    (length,) = struct.unpack_from("<I", payload)
    header: dict[str, Any] = json.loads(payload[4 : 4 + length])
    if header["follow"] or header["selection"] == selection.to_dict():
        return payload
    return _join(header | {"selection": selection.to_dict()}, payload[4 + length :])


def _join(header: dict[str, Any], weights: bytes) -> bytes:
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<I", len(text)) + text + weights


def _quantised(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Weights 0 to 1 -> uint16. Rounding in float32 may leave a weight a hair above 1."""
    if not bool(((weights >= 0.0) & (weights <= 1.0 + 1e-4)).all()):
        raise ValueError("attention weights must be numbers from 0 to 1")
    scaled = np.rint(np.minimum(weights, 1.0).astype(np.float64) * FULL)
    return scaled.astype("<u2")


def _shapes(maps: AttentionMaps) -> dict[str, dict[str, int]]:
    """Shape of each kind and where its weights start, counted in weights."""
    shapes: dict[str, dict[str, int]] = {}
    offset = 0
    for kind in KINDS:
        layers, heads, queries, keys = maps.weights(kind).shape
        shapes[kind] = {"layers": layers, "heads": heads, "queries": queries, "keys": keys, "offset": offset}
        offset += layers * heads * queries * keys
    return shapes


def _axis(axis: Axis) -> dict[str, list[Any]]:
    return {
        "tokens": list(axis.tokens),
        "words": [int(word) for word in axis.words],
        "special": [bool(mark) for mark in axis.special],
    }


def _colours() -> dict[str, dict[str, Any]]:
    """For light and dark: the scale (256 RGB triples, base64), the colours of the kinds, the hatch of masked cells."""
    return {
        theme: {
            "scale": base64.b64encode(scale(theme).tobytes()).decode(),
            "kinds": {kind: kind_colour(kind, theme) for kind in KINDS},
            "hatch": MASK_HATCH[theme],
        }
        for theme in THEMES
    }
