"""The identity of a model: one hash over its configuration, its vocabularies and its weights."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


def weights_hash(config: Mapping[str, Any], vocabularies: Mapping[str, bytes], weights: Mapping[str, Tensor]) -> str:
    """Return the sha256 of what determines a model's output.

    That is the sha256 of a JSON text, keys sorted, no spaces, ASCII:

        {"config": ..., "vocabularies": {name: sha256}, "weights": {name: [dtype, shape, sha256]}}

    so that it depends neither on the order of keys or weights, nor on the files that hold them.

    Args:
        config: Contents of `config.json`: options, special ids, decoding defaults. `format_version` does not count.
        vocabularies: Name of the file -> its bytes.
        weights: Name -> tensor as it is stored, on the CPU; the sha256 is of its numbers in row order.
    """
    record = {
        "config": {name: value for name, value in config.items() if name != "format_version"},
        "vocabularies": {name: hashlib.sha256(data).hexdigest() for name, data in vocabularies.items()},
        "weights": {
            name: [str(tensor.dtype).removeprefix("torch."), list(tensor.shape), _digest(tensor)]
            for name, tensor in weights.items()
        },
    }
    text = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _digest(tensor: Tensor) -> str:
    # numpy knows no bfloat16, but every tensor is bytes.
    return hashlib.sha256(tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data).hexdigest()
