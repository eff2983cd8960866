"""Attribution from one layer, or averaged over all: attention weights, and norms of the weighted vectors.

* `attention`: the weight alpha_ij.
* `norm` (Kobayashi et al. 2020): || sum_h alpha_ij f_h(x_j) ||, since a large weight on a short vector does little.
* `norm-ln` (Kobayashi et al. 2021): with the residual connection and LayerNorm, || T_i(x_j) ||.

`source` is encoder-decoder attention, `target` the decoder's self-attention of the same layer. `head` chooses a head of
encoder-decoder attention; `target` always has all heads of self-attention. In `norm-ln` the residual of encoder-decoder
attention comes from no source token and is left out.

Shape legend: S source positions, T target positions.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_core.analysis.attribution.methods import Method
from transformer_core.analysis.sublayer import SubLayer, head_weights
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun
from transformer_core.head import Head, Layer
from transformer_core.translator import Translator


@torch.no_grad()
def of_layers(
    translator: Translator,
    run: TeacherForcedRun,
    method: Method,
    place: Head | Layer | None,
    check: Callable[[], None],
) -> tuple[Tensor, Tensor]:
    """Return (T, S) and (T, T) of one layer or the mean over all, of one head or of all.

    Attention is averaged over heads. A norm is taken of the sum over heads.
    """
    config = translator.config
    layers = range(config.num_layers) if place is None else [place.layer]
    head = place.head if isinstance(place, Head) else None
    sources, targets = [], []
    for number in layers:
        check()
        if method == "attention":
            weights, decoder_weights = (head_weights(run, kind, number) for kind in ("cross", "decoder"))
            sources.append(weights.mean(dim=0) if head is None else weights[head])
            targets.append(decoder_weights.mean(dim=0))
            continue
        cross = SubLayer.of(translator.model, run, "cross", number)
        sources.append(norms(cross, method, head)[:, : run.source.shape[1]])
        targets.append(norms(SubLayer.of(translator.model, run, "decoder", number), method, None))
    return torch.stack(sources).mean(dim=0), torch.stack(targets).mean(dim=0)


def norms(sublayer: SubLayer, method: Method, head: int | None) -> Tensor:
    """Compute `norm` or `norm-ln`: (Q, K); (Q, K + 1) for `norm-ln` of encoder-decoder attention, residual last."""
    if head is not None:
        lengths: Tensor = sublayer.messages[head].norm(dim=-1)  # (K,)
        return sublayer.weights[head] * lengths  # ||alpha f|| = alpha ||f||
    vectors = sublayer.sums if method == "norm" else sublayer.vectors
    return torch.cat([vectors(queries).norm(dim=-1) for queries in sublayer.groups()])
