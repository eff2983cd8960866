"""Layers against torch.nn with copied weights, post-norm as in the paper."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.core.tiny import tiny_config
from transformer_core.attention import MultiHeadAttention
from transformer_core.layers import AddAndNorm, DecoderLayer, EncoderLayer, FeedForward, SharedEmbedding
from transformer_core.masks import causal_mask

CONFIG = tiny_config(d_k=4, d_v=4)


def seeded_norms(layer: nn.Module) -> None:
    """Norms with weights that are not all 1 and 0, or a forgotten one would not show."""
    for module in layer.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight, 1.0, 0.3)
            nn.init.normal_(module.bias, 0.0, 0.3)


def copy_attention(to: nn.MultiheadAttention, source: MultiHeadAttention) -> None:
    to.in_proj_weight.copy_(torch.cat((source.w_q.weight, source.w_k.weight, source.w_v.weight)))
    to.in_proj_bias.zero_()
    to.out_proj.weight.copy_(source.w_o.weight)
    to.out_proj.bias.zero_()


def copy_linear(to: nn.Linear | nn.LayerNorm, source: nn.Linear | nn.LayerNorm) -> None:
    to.weight.copy_(source.weight)
    to.bias.copy_(source.bias)


@torch.no_grad()
def test_encoder_layer_against_torch() -> None:
    torch.manual_seed(3)
    layer = EncoderLayer(CONFIG).eval()
    seeded_norms(layer)
    reference = nn.TransformerEncoderLayer(
        16, 4, 24, dropout=0.0, layer_norm_eps=1e-6, batch_first=True, norm_first=False
    )
    copy_attention(reference.self_attn, layer.self_attention)
    copy_linear(reference.linear1, layer.feed_forward.w_1)
    copy_linear(reference.linear2, layer.feed_forward.w_2)
    copy_linear(reference.norm1, layer.self_attention_add_norm.norm)
    copy_linear(reference.norm2, layer.feed_forward_add_norm.norm)
    x = torch.randn(3, 6, 16)
    padding = torch.arange(6)[None] >= torch.tensor([[6], [4], [1]])
    expected = reference.train()(x, src_key_padding_mask=padding)  # train: its own code, not the fast path
    torch.testing.assert_close(layer(x, ~padding[:, None, None, :]), expected, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_decoder_layer_against_torch() -> None:
    torch.manual_seed(4)
    layer = DecoderLayer(CONFIG).eval()
    seeded_norms(layer)
    reference = nn.TransformerDecoderLayer(
        16, 4, 24, dropout=0.0, layer_norm_eps=1e-6, batch_first=True, norm_first=False
    )
    copy_attention(reference.self_attn, layer.self_attention)
    copy_attention(reference.multihead_attn, layer.cross_attention)
    copy_linear(reference.linear1, layer.feed_forward.w_1)
    copy_linear(reference.linear2, layer.feed_forward.w_2)
    copy_linear(reference.norm1, layer.self_attention_add_norm.norm)
    copy_linear(reference.norm2, layer.cross_attention_add_norm.norm)
    copy_linear(reference.norm3, layer.feed_forward_add_norm.norm)
    x, memory = torch.randn(3, 5, 16), torch.randn(3, 7, 16)
    padding = torch.arange(7)[None] >= torch.tensor([[7], [3], [1]])
    causal, source_mask = causal_mask(5), ~padding[:, None, None, :]
    expected = reference(x, memory, tgt_mask=~causal[0, 0], memory_key_padding_mask=padding)

    def to_self(y: Tensor) -> Tensor:
        out: Tensor = layer.self_attention(y, y, causal)
        return out

    def to_source(y: Tensor) -> Tensor:
        out: Tensor = layer.cross_attention(y, memory, source_mask)
        return out

    torch.testing.assert_close(layer(x, to_self, to_source), expected, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_feed_forward_is_two_convolutions_of_kernel_1() -> None:
    torch.manual_seed(0)
    network = FeedForward(16, 24)
    x = torch.randn(2, 5, 16)
    inner = F.conv1d(x.transpose(1, 2), network.w_1.weight[:, :, None], network.w_1.bias).relu()
    expected = F.conv1d(inner, network.w_2.weight[:, :, None], network.w_2.bias).transpose(1, 2)
    torch.testing.assert_close(network(x), expected, atol=1e-5, rtol=1e-5)


def test_dropout_falls_on_the_sublayer_before_it_is_added() -> None:
    step = AddAndNorm(tiny_config(dropout=0.5)).train()
    x = torch.randn(4, 6, 16)
    torch.manual_seed(11)
    out = step(x, lambda y: 3 * y)
    torch.manual_seed(11)
    summed = x + F.dropout(3 * x, 0.5, training=True)
    torch.testing.assert_close(out, F.layer_norm(summed, (16,), eps=1e-6))
    step.eval()
    torch.testing.assert_close(step(x, lambda y: 3 * y), F.layer_norm(4 * x, (16,), eps=1e-6))


def test_one_matrix_embeds_and_projects() -> None:
    shared = SharedEmbedding(10, 16)
    nn.init.normal_(shared.weight)
    ids = torch.tensor([[3, 9]])
    torch.testing.assert_close(shared(ids)[0, 1], shared.weight[9] * math.sqrt(16))
    x = torch.randn(2, 3, 16)
    torch.testing.assert_close(shared.logits(x)[1, 2, 7], (x[1, 2] * shared.weight[7]).sum())
    # Gradients of both uses meet in the one matrix: row 3 as embedding, row 5 as projection only.
    (gradient,) = torch.autograd.grad(shared.logits(shared(ids))[0, 0, 5], shared.weight)
    rows = gradient.abs().sum(dim=1) > 0
    assert rows.nonzero().flatten().tolist() == [3, 5]
