"""Attention of few queries against the fused kernel."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from transformer_core.cpu.few_queries import attend


@pytest.mark.parametrize("padded", [False, True])
def test_few_queries_agree_with_the_fused_kernel(padded: bool) -> None:
    queries, keys, values = torch.randn(6, 2, 4), torch.randn(6, 5, 4), torch.randn(6, 5, 3)
    forbidden = torch.zeros(6, 1, 5)
    forbidden[3:, :, 4:] = -math.inf
    given = forbidden if padded else None
    expected = F.scaled_dot_product_attention(queries, keys, values, attn_mask=given, scale=0.3)
    torch.testing.assert_close(attend(queries, keys, values, 0.3, given), expected)
