"""Everything that the explorer shows of one translation, as one byte buffer.

A header and the weights, as of `viz_app.components.buffer`; weights.py says how they are stored and how exact they are.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transformer_core.attention_maps import AttentionMaps, Kind
from viz_app.components.buffer import join_buffer, plain_axis, split_buffer
from viz_app.components.explorer.selection import Selection
from viz_app.components.explorer.weights import PackedWeights, pack_weights
from viz_app.components.palette import palettes

FORMAT_VERSION = 2


@dataclass(frozen=True)
class Step:
    """Probability of one generated token, and the runners-up.

    Args:
        probability: Of the token that stands in the translation, 0 to 1.
        alternatives: Runner-up tokens with their probabilities, most probable first.
    """

    probability: float
    alternatives: tuple[tuple[str, float], ...] = ()


def pack(
    maps: AttentionMaps,
    *,
    weights: PackedWeights | None = None,
    steps: Sequence[Step] | None,
    texts: Mapping[str, str],
    selection: Selection,
    gloss_head: tuple[int, int] | None = None,
    beam: Mapping[str, Any] | None = None,
    tree: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] | None = None,
    follow: bool = False,
    source_language: str = "en",
    target_language: str = "de",
    alignment: Mapping[Kind, Sequence[Sequence[float]]] | None = None,
) -> bytes:
    """Pack the maps of one translation for the browser.

    Args:
        maps: Every head of the translation.
        weights: The same maps packed before; None packs them now.
        steps: One for each position of `maps.outputs`; None where no probabilities are known.
        texts: The table ``[explorer]`` in the reader's language.
        selection: Where a fresh component starts; fitted to the maps. Its view also holds in a component until
            another one is chosen.
        gloss_head: (layer, head) of the encoder-decoder head whose favourite source words stand under the translation
            until another one is selected. None takes the selected head when its kind is "cross", else the first head
            of the last layer.
        beam: The search as a tree of plain values; see `serving.models.search_tree`. None or empty: the
            explorer offers no tree.
        tree: What a parser has generated; see `serving.models.parse_tree`. None or empty: no tree is drawn.
        about: `text`, the sentence as typed; `source`, as the model reads it; `model`, the name of the checkpoint;
            `own`, of the one that the page shows; `models`, of others that the explorer offers to compare with;
            `titles`, what the page calls each of them, if not by its name. None: the explorer compares heads of one
            sentence only.
        follow: Whether a component that already shows another translation takes this selection over as well.
        source_language: BCP 47 code of the source, for fonts and screen readers.
        target_language: BCP 47 code of the translation.
        alignment: Measured alignment error rate of each head of a kind, [layer][head], 0 to 1; None or a kind left out
            when it was not measured.

    Returns:
        The buffer; its header carries `id`, a hash of everything in it but the selection and the head of the gloss.

    Raises:
        ValueError: `steps` does not fit the outputs, `alignment` not the layers and heads, or a weight is not a number
            from 0 to 1.
    """
    if steps is not None and len(steps) != len(maps.outputs):
        raise ValueError(f"{len(steps)} steps for {len(maps.outputs)} generated tokens; each needs one step")
    fitted = selection.fitted(maps)
    if gloss_head is None:
        gloss_head = (fitted.layer, fitted.head) if fitted.kind == "cross" else (max(0, len(maps.cross) - 1), 0)
    if weights is None:
        weights = pack_weights(maps)
    header: dict[str, Any] = {
        "version": FORMAT_VERSION,
        "bits": weights.bits,
        "resolution": weights.resolution,
        "kinds": weights.kinds,
        "axes": {name: plain_axis(getattr(maps, name)) for name in ("source", "inputs", "outputs")},
        "finished": maps.finished,
        "steps": [
            [_short(step.probability), [[token, _short(p)] for token, p in step.alternatives]] for step in steps or ()
        ],
        "languages": {"source": source_language, "target": target_language},
        "colours": palettes(),
        "texts": dict(texts),
        "alignment": _rates(alignment or {}, maps),
    }
    if about:
        header["about"] = dict(about)
    if beam:
        header["beam"] = dict(beam)
    if tree:
        header["tree"] = dict(tree)
    # A short hash is enough to tell two translations of one session apart.
    digest = hashlib.blake2b(json.dumps(header).encode() + weights.digest.encode(), digest_size=12).hexdigest()
    header |= {"id": digest, "selection": fitted.to_dict(), "gloss": list(gloss_head), "follow": follow}
    header |= {"defaults": Selection().to_dict(), "opens": fitted.view}
    return join_buffer(header, weights.data.data)


def with_selection(payload: bytes, selection: Selection, *, key: str, off: str | None = None) -> bytes:
    """Return the payload with another selection to start from; unchanged when it makes others follow.

    Args:
        payload: From `pack`.
        selection: Where the component starts.
        key: Of the component. One that comes back under the same key knows whether its view was chosen.
        off: The selected head, such as `cross.6.8`, where it starts switched off.
    """
    header, weights = split_buffer(payload)
    start = {"selection": selection.to_dict(), "key": key} | ({"off": off} if off else {})
    if header["follow"] or header.items() >= start.items():
        return payload
    return join_buffer(header | start, weights)


def join_payloads(first: bytes, other: bytes) -> bytes:
    """Return two payloads in one buffer: what is shown, and what it is compared with.

    Layout: ``[uint32 0][uint32 length of the first][the first][the second]``; a single payload never starts with 0.
    """
    return b"".join((struct.pack("<II", 0, len(first)), first, other))


def _short(probability: float) -> float:
    """Round to six digits: more than the screen shows, and less than half of the bytes."""
    return float(f"{probability:.6g}")


def _rates(alignment: Mapping[Kind, Sequence[Sequence[float]]], maps: AttentionMaps) -> dict[Kind, list[list[float]]]:
    """Return the error rates as plain lists, checked against the shape of the maps."""
    rates = {kind: [[float(rate) for rate in layer] for layer in table] for kind, table in alignment.items()}
    for kind, table in rates.items():
        layers, heads = maps.weights(kind).shape[:2]
        if [len(layer) for layer in table] != [heads] * layers:
            raise ValueError(
                f"the alignment error rates of {kind} must be {layers} lists of {heads}, one for each layer"
            )
    return rates
