"""Parameters, operations and memory of a configuration, from the formulas of Section 3. Needs no torch.

One multiply-add is two floating-point operations (FLOPs). Only matrix products are counted, as is usual: they are all
but a few percent. Embedding look-ups are none.

Legend: S source positions, T target positions, d = d_model, h heads, V = vocab_size.
"""

from __future__ import annotations

from dataclasses import dataclass

from transformer_core.attention_variants import VARIANTS
from transformer_core.config import ConfigError, ModelConfig, Precision

LARGE_MODEL = 50_000_000  # parameters, from which translators keep matrices in float16: see float16_matrices.py
P100_FLOPS = 9.5e12  # sustained single precision, as Section 6.1 takes it


@dataclass(frozen=True, kw_only=True)
class Work:
    """The input of one pass: sentence pairs of equal lengths, `</s>` or `<s>` included.

    Args:
        sentences: How many pairs.
        source_length: Source positions of each (S).
        target_length: Target positions of each (T).
    """

    sentences: float
    source_length: int
    target_length: int

    @property
    def source_tokens(self) -> float:
        """Source positions in all."""
        return self.sentences * self.source_length

    @property
    def target_tokens(self) -> float:
        """Target positions in all."""
        return self.sentences * self.target_length


@dataclass(frozen=True, kw_only=True)
class PaperRun:
    """A training of Section 5.2.

    Args:
        hours: Duration.
        gpus: Number of P100 GPUs.
    """

    hours: float
    gpus: int = 8

    @property
    def flops(self) -> float:
        """The paper's own estimate: time x GPUs x sustained rate (Section 6.1, Table 2)."""
        return self.hours * 3600 * self.gpus * P100_FLOPS


PAPER_RUNS = {"base": PaperRun(hours=12), "big": PaperRun(hours=3.5 * 24)}

# --- parameters -------------------------------------------------------------------------------------------------------


def parameters_by_part(config: ModelConfig) -> dict[str, int]:
    """Return trainable parameters of each part; a shared matrix counts once, under embeddings."""
    d, n = config.d_model, config.num_layers
    attention, feed_forward, norm = attention_parameters(config), 2 * d * config.d_ff + config.d_ff + d, 2 * d
    source_tokens = 0 if config.tie == "all" else config.source_vocab_size or config.vocab_size
    last_norms = 2 * norm * ((config.norm == "pre") + config.embedding_norm)
    return {
        "embeddings": (config.vocab_size + source_tokens) * d,
        "positions": 2 * config.max_positions * d if config.positions == "learned" else 0,
        "encoder self-attention": n * attention,
        "encoder feed-forward": n * feed_forward,
        "decoder self-attention": n * attention,
        "encoder-decoder attention": n * attention,
        "decoder feed-forward": n * feed_forward,
        "norms": n * (2 + 3) * norm + last_norms,
        "output": (config.vocab_size * d if config.tie == "none" else 0)
        + (config.vocab_size if config.output_bias else 0),
    }


def parameters(config: ModelConfig) -> int:
    """Return trainable parameters in total; the same as `count_parameters` of the model."""
    return sum(parameters_by_part(config).values())


def attention_parameters(config: ModelConfig) -> int:
    """Return the trainable parameters of one multi-head attention."""
    keys, values = config.num_heads * config.d_k, config.num_heads * config.d_v
    biases = 2 * keys + values + config.d_model if config.attention_biases else 0
    extra = VARIANTS[config.attention].extra_parameters(config)
    return (2 * keys + 2 * values) * config.d_model + biases + extra


# --- operations -------------------------------------------------------------------------------------------------------


def multiply_adds_by_part(config: ModelConfig, work: Work) -> dict[str, float]:
    """Return the multiply-adds of one forward pass with a given target.

    Full attention scores masked pairs too. Of restricted attention the pairs within the window are counted; its blocks
    compute up to three times as many. An additive score counts as much as a dot product, without its tanh.

    Raises:
        ConfigError: The attention was registered without its operations.
    """
    operations = VARIANTS[config.attention].operations
    if operations is None:
        raise ConfigError(
            f"the operations of attention {config.attention!r} are unknown; give register_variant its operations"
        )
    d, n, sentences = config.d_model, config.num_layers, work.sentences
    source, target = work.source_tokens, work.target_tokens
    keys, values = config.num_heads * config.d_k, config.num_heads * config.d_v
    projections = (2 * keys + 2 * values) * d
    feed_forward = 2 * d * config.d_ff
    in_encoder, in_decoder = (
        sentences * operations(config, length, length, _pairs_seen(length, config.window, causal))
        for length, causal in ((work.source_length, False), (work.target_length, config.causal))
    )
    sizes = work.target_length, work.source_length
    across = sentences * operations(config, *sizes, sizes[0] * sizes[1])
    return {
        "encoder self-attention": n * (source * projections + in_encoder),
        "encoder feed-forward": n * source * feed_forward,
        "decoder self-attention": n * (target * projections + in_decoder),
        "encoder-decoder attention": n * ((source + target) * (keys + values) * d + across),
        "decoder feed-forward": n * target * feed_forward,
        "output": target * d * config.vocab_size,
    }


def _pairs_seen(length: int, window: int, causal: bool) -> int:
    """Count the pairs of query and key of one sentence in self-attention."""
    if not window:
        return length * length
    reach = min(window, length - 1)
    ahead = 0 if causal else length * reach - reach * (reach + 1) // 2
    return length * (reach + 1) - reach * (reach + 1) // 2 + ahead


def forward_flops(config: ModelConfig, work: Work) -> float:
    """Return FLOPs of one forward pass with a given target."""
    return 2 * sum(multiply_adds_by_part(config, work).values())


def training_flops(config: ModelConfig, work: Work) -> float:
    """Return FLOPs of one step: the backward pass takes two products for each one of the forward pass."""
    return 3 * forward_flops(config, work)


# --- memory -----------------------------------------------------------------------------------------------------------


def memory_by_part(config: ModelConfig, work: Work, precision: Precision = "bfloat16") -> dict[str, float]:
    """Estimate the peak memory of training one batch, in bytes.

    Weights, gradients and Adam's two moments are float32. Activations are what the backward pass needs of the layers,
    with attention computed in the open and in full: a fused kernel or a window needs less, additive attention's inner
    values come on top. Residual sums, norms and softmax stay in float32, the rest is in `precision`.
    """
    count = parameters(config)
    return {
        "weights": 4.0 * count,
        "weights in bfloat16": 2.0 * count if precision == "bfloat16" else 0.0,
        "gradients": 4.0 * count,
        "Adam's moments": 8.0 * count,
        "activations": _activation_bytes(config, work, 2 if precision == "bfloat16" else 4),
    }


def _activation_bytes(config: ModelConfig, work: Work, width: int) -> float:
    source, target, n = work.source_tokens, work.target_tokens, config.num_layers
    pairs = work.sentences * (work.source_length**2 + work.target_length**2 + work.source_length * work.target_length)
    keys, values, d = config.num_heads * config.d_k, config.num_heads * config.d_v, config.d_model
    of_queries, of_keys = keys + values, keys + values  # queries and head outputs; keys and values
    # After softmax in float32; then in float32 once more, with fully masked rows zeroed, or in the narrow format.
    weights = config.num_heads * pairs * (4 + width + (4 if config.attention_dropout else 0))
    attentions = width * ((source + 2 * target) * of_queries + (2 * source + target) * of_keys) + weights
    inner = 1 if config.activation == "relu" else 2  # relu's gradient needs its output only
    inner += 1 if config.activation_dropout else 0
    feed_forward = width * inner * config.d_ff * (source + target)
    # Each residual sum before its norm, the norm's result (once more in the narrow format), and what dropout kept.
    around = (4 + 4 + (width if width < 4 else 0) + (4 if config.dropout else 0)) * d * (2 * source + 3 * target)
    return n * (attentions + feed_forward + around)
