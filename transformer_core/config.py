"""Every option of the model, of training and of decoding, as frozen dataclasses that validate themselves.

Command line, recipe files and the `config.json` beside every checkpoint all follow from these classes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Self, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from transformer_core.attention_variants import VARIANTS

Precision = Literal["float32", "bfloat16"]
Norm = Literal["post", "pre"]
Activation = Literal["relu", "gelu", "swish"]
Positions = Literal["sinusoidal", "concatenated", "tensor2tensor", "learned", "none"]
Tie = Literal["all", "target", "none"]
OptimizerName = Literal["adam", "muon"]
Parallel = Literal["ddp", "fsdp"]
Smoothing = Literal["others", "uniform"]
LengthPenalty = Literal["gnmt", "power"]
BestMetric = Literal["nll", "perplexity", "bleu"]


# Bounds lie far beyond any known model; the layers of the largest can still be built without weights in a second.
HeadWidth = Annotated[int, Meta(ge=0, le=100_000)]
Positive = Annotated[int, Meta(gt=0, description="a positive whole number")]
PositiveReal = Annotated[float, Meta(gt=0, description="positive")]
Count = Annotated[int, Meta(ge=0, description="0 (off) or positive")]
Amount = Annotated[float, Meta(ge=0, description="0 (off) or positive")]
Share = Annotated[float, Meta(ge=0, lt=1, description="at least 0 and below 1")]


class ConfigError(ValueError):
    """An option has a value that is not allowed; the message names the field, the value and what is allowed."""


def _require(condition: bool, field: str, value: object, allowed: str) -> None:
    if not condition:
        raise ConfigError(f"{field} is {value!r}, but must be {allowed}")


_NOUNS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


@cache
def _declared(config: type) -> type[msgspec.Struct]:
    """Return the fields of a configuration as a type that msgspec checks in one pass."""
    hints = get_type_hints(config, include_extras=True)
    return msgspec.defstruct(config.__name__, [(field.name, hints[field.name]) for field in dataclasses.fields(config)])


def _allowed(kind: Any, value: object) -> str:
    """Describe the values of a type, or its bounds for a value within the type."""
    if get_origin(kind) is Literal:
        *others, last = get_args(kind)
        return f"{', '.join(others)} or {last}"
    base, *bounds = get_args(kind) or (kind,)
    if not bounds or type(value) not in ((int, float) if base is float else (base,)):
        return _NOUNS[base]
    return bounds[0].description or f"between {bounds[0].ge} and {bounds[0].le:,}"


class _Config:
    """Base of all configurations: to and from plain dictionaries; an unknown key is an error."""

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Build from a plain dictionary. Raises ConfigError for an unknown option, or a bad value."""
        if not isinstance(values, Mapping):
            raise ConfigError(f"{cls.__name__}: expected options, got {values!r}")
        known = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ConfigError(f"{cls.__name__} has no option {', '.join(unknown)}; it has {', '.join(known)}")
        try:
            return cls(**values)
        except (TypeError, UnicodeError) as error:  # msgspec reads no half of a surrogate pair
            raise ConfigError(f"{cls.__name__}: {error}") from error

    def __post_init__(self) -> None:
        """Require the declared types: JSON and recipes may hold 1.5, "512" or true where a whole number belongs."""
        declared = _declared(type(self))  # type: ignore[arg-type]
        try:
            msgspec.convert(vars(self), declared)
        except msgspec.ValidationError as error:
            name = str(error).rpartition("$.")[2].rstrip("`")
            value, kind = getattr(self, name), get_type_hints(declared, include_extras=True)[name]
            raise ConfigError(f"{name} is {value!r}, but must be {_allowed(kind, value)}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return all options as plain values, ready for JSON."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some options changed, validated again."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]


@dataclass(frozen=True, kw_only=True)
class ModelConfig(_Config):
    """Shape of the Transformer, in the paper's names (Section 3, Table 3). Defaults are the base model's.

    Args:
        vocab_size: Tokens in the vocabulary that source and target share.
        d_model: Width of every embedding and sub-layer output.
        d_ff: Inner width of the feed-forward networks.
        num_layers: Layers in the encoder, and again in the decoder (N).
        num_heads: Attention heads of every attention (h).
        d_k: Width of the queries and keys of one head; 0 means d_model / num_heads.
        d_v: Width of the values of one head; 0 means d_model / num_heads.
        dropout: Probability of dropping a value of a sub-layer's output or of the embeddings (P_drop).
        attention_dropout: Probability of dropping an attention weight.
        activation_dropout: Probability of dropping an inner value of the feed-forward networks.
        layer_norm_epsilon: Added to the variance in LayerNorm.
        norm: LayerNorm after each residual sum (post, the paper's), or before each sub-layer and once at the end of
            encoder and decoder (pre).
        activation: Of the feed-forward networks.
        positions: Sines and cosines in turn (sinusoidal, the paper's formula), all sines before all cosines
            (concatenated), the same with the slightly different angles of tensor2tensor, fairseq and Marian
            (tensor2tensor), a trained table, one for the encoder and one for the decoder (learned), or nothing, so that
            the encoder cannot see the order of its tokens (none).
        first_position: Number of the first token's position in sinusoids: 0, or 2 as in fairseq.
        max_positions: Rows of a learned table; longer sentences are rejected. Sinusoids have no such limit.
        tie: One matrix for source embedding, target embedding and output (all, the paper's), for target embedding and
            output only (target), or three matrices (none).
        source_vocab_size: Tokens in a separate source vocabulary; `vocab_size` is then the target's. 0 means that they
            share one.
        scaled_embeddings: Whether embeddings are multiplied by sqrt(d_model).
        embedding_norm: Whether LayerNorm is applied to embedding plus position, before dropout.
        attention: How a query and a key are scored: by their scaled dot product (dot-product, the paper's), or by a
            network with one hidden layer of width d_k in each head (additive). Variants from outside: see
            `attention_variants.py`.
        scaled: Whether a dot product is divided by sqrt(d_k).
        causal: Whether the decoder's self-attention masks later positions. Without the mask, training and a forced pass
            see the answer; step-by-step decoding has no later positions, so it works as with the mask.
        residual: Whether the input of each sub-layer is added to its output.
        window: Positions on either side that self-attention is restricted to; 0 means all.
        attention_biases: Whether W^Q, W^K, W^V and W^O have biases.
        output_bias: Whether the output projection has a bias.
    """

    vocab_size: Annotated[int, Meta(ge=1, le=10_000_000)] = 37_000
    d_model: Annotated[int, Meta(ge=1, le=100_000)] = 512
    d_ff: Annotated[int, Meta(ge=1, le=1_000_000)] = 2048
    num_layers: Annotated[int, Meta(ge=1, le=200)] = 6
    num_heads: Annotated[int, Meta(ge=1, le=1_000)] = 8
    d_k: HeadWidth = 0
    d_v: HeadWidth = 0
    dropout: Share = 0.1
    attention_dropout: Share = 0.0
    activation_dropout: Share = 0.0
    layer_norm_epsilon: PositiveReal = 1e-6
    norm: Norm = "post"
    activation: Activation = "relu"
    positions: Positions = "sinusoidal"
    first_position: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    max_positions: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_024
    tie: Tie = "all"
    source_vocab_size: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    scaled_embeddings: bool = True
    embedding_norm: bool = False
    attention: str = "dot-product"
    scaled: bool = True
    causal: bool = True
    residual: bool = True
    window: Annotated[int, Meta(ge=0, description="0 (all positions) or positive")] = 0
    attention_biases: bool = False
    output_bias: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _require(self.d_model % 2 == 0, "d_model", self.d_model, "even, since sines and cosines come in pairs")
        for name in ("d_k", "d_v"):
            if getattr(self, name) == 0:
                divides = self.d_model % self.num_heads == 0
                allowed = f"a divisor of d_model ({self.d_model}) while {name} is not given"
                _require(divides, "num_heads", self.num_heads, allowed)
                object.__setattr__(self, name, self.d_model // self.num_heads)
        fixed = self.positions in ("sinusoidal", "concatenated", "tensor2tensor")
        _require(fixed or not self.first_position, "first_position", self.first_position, "0 without sinusoids")
        shared = self.tie == "all"
        _require(not (shared and self.source_vocab_size), "tie", self.tie, "target or none with a source_vocab_size")
        self._check_attention()

    def _check_attention(self) -> None:
        name = self.attention
        registered = f"one of your own: import the module that calls register_variant({name!r}, ...) first"
        _require(name in VARIANTS, "attention", name, f"{', '.join(VARIANTS)}, or {registered}")
        variant = VARIANTS[name]
        needed = {**variant.requires} if variant.build_restricted else {"window": 0, **variant.requires}
        for option, value in needed.items():
            current = getattr(self, option)
            _require(current == value, option, current, f"{str(value).lower()} where attention is {name}")

    @property
    def max_length(self) -> int | None:
        """Maximum positions of a sentence, `<s>` or `</s>` included; None where there is no limit."""
        return self.max_positions if self.positions == "learned" else None


@dataclass(frozen=True, kw_only=True)
class TrainingConfig(_Config):
    """Options of training (Section 5).

    Args:
        batch_tokens: Maximum of padded source tokens in a batch, and of padded target tokens (Section 5.1: 25,000).
        accumulate: Batches whose gradients are summed for one step.
        steps: Total number of steps.
        learning_rate_factor: Multiplies the schedule of Section 5.3, equation 3.
        warmup_steps: Steps over which the learning rate rises linearly.
        cooldown_steps: Final steps over which the learning rate falls linearly to 0; the paper has none (0).
        optimizer: Adam as in the paper (adam), or Muon for the matrices inside the layers and Adam for the rest (muon),
            which learns more from each step.
        muon_factor: Multiplies the learning rate of the matrices that Muon updates; 1 gives steps of Adam's size.
        beta1: Adam's decay of the first moment.
        beta2: Adam's decay of the second moment.
        adam_epsilon: Adam's epsilon.
        label_smoothing: Probability mass taken from the correct token and spread over others (Section 5.4); epsilon.
        smoothing: Where it goes: to the V - 1 other tokens (others), or to all V, the correct one included, as in
            PyTorch (uniform).
        head_penalty: Weight of a term that keeps heads from resting (see training/head_penalty.py); the paper has none
            (0). The loss that is logged contains it.
        head_penalty_start: Step from which that term grows linearly.
        head_penalty_full: Step from which it has its full weight.
        max_gradient_norm: Gradients with a larger norm are scaled down to it; 0 does not clip, as in the paper.
        max_tokens: Pairs with more tokens than this on either side are left out of training.
        precision: Number format of the matrix products in training; weights stay float32.
        parallel: How several processes hold weights and optimizer state: each has all (ddp) or a part (fsdp).
        activation_checkpointing: Whether activations are computed again in the backward pass: less memory, slower.
        compile: Whether the model is compiled (on a GPU); batches are then padded to a few fixed shapes.
        cuda_graphs: Whether steps are captured in CUDA graphs where that can be done: on one CUDA GPU, without
            activation_checkpointing. Batches are then padded to a few fixed shapes.
        seed: Seeds the weights, the order of the data and dropout.
        log_every: Steps between two lines of metrics.jsonl.
        validate_every: Steps between two validations.
        validation_sentences: Fixed sentences of each validation set that are translated greedily for BLEU.
        best_metric: Score of the first validation set by which the best step is chosen. Its weights are kept.
        patience: Early stopping: training ends after this many validations without a better score; 0 never does.
        tensorboard: Whether curves are also written for TensorBoard, which must be installed.
        checkpoint_every: Steps between two checkpoints; 0 means only by time.
        checkpoint_minutes: Minutes between two checkpoints; 0 means only by steps.
        keep_checkpoints: Newest checkpoints kept; averaging needs the last 5 (Section 6.1).
        snapshots: Steps, spaced geometrically, whose weights are kept as float16 for the history of the heads, besides
            the initial weights; 0 keeps none.
        snapshots_from: The first of these steps.
        plateau_steps: Stop if the loss has not left its plateau after this many steps; 0 never does.
        plateau_loss: Training loss per token, in nats, above which it counts as stuck on the plateau.
    """

    batch_tokens: Positive = 25_000
    accumulate: Positive = 1
    steps: Positive = 100_000
    learning_rate_factor: PositiveReal = 1.0
    warmup_steps: Positive = 4_000
    cooldown_steps: Count = 0
    optimizer: OptimizerName = "adam"
    muon_factor: PositiveReal = 1.0
    beta1: Share = 0.9
    beta2: Share = 0.98
    adam_epsilon: PositiveReal = 1e-9
    label_smoothing: Share = 0.1
    smoothing: Smoothing = "others"
    head_penalty: Amount = 0.0
    head_penalty_start: Count = 200
    head_penalty_full: Count = 600
    max_gradient_norm: Amount = 0.0
    max_tokens: Positive = 256
    precision: Precision = "bfloat16"
    parallel: Parallel = "ddp"
    activation_checkpointing: bool = False
    compile: bool = False
    cuda_graphs: bool = True
    seed: int = 1
    log_every: Positive = 50
    validate_every: Positive = 1_000
    validation_sentences: Count = 500
    best_metric: BestMetric = "nll"
    patience: Count = 0
    tensorboard: bool = False
    checkpoint_every: Count = 1_000
    checkpoint_minutes: Amount = 10.0
    keep_checkpoints: Positive = 5
    snapshots: Count = 0
    snapshots_from: Positive = 100
    plateau_steps: Count = 4_000
    plateau_loss: PositiveReal = 6.5

    def __post_init__(self) -> None:
        super().__post_init__()
        most = f"at most steps ({self.steps})"
        _require(self.cooldown_steps <= self.steps, "cooldown_steps", self.cooldown_steps, most)
        whole = not (self.optimizer == "muon" and self.parallel == "fsdp")
        _require(whole, "parallel", self.parallel, "ddp with the optimizer muon, which needs whole matrices")
        rewritten = self.activation_checkpointing or self.parallel == "fsdp"  # the layers
        allowed = "with activation_checkpointing, and where parallel is fsdp"
        _require(not (self.compile and rewritten), "compile", self.compile, f"false {allowed}")
        _require(not rewritten or not self.head_penalty, "head_penalty", self.head_penalty, f"0 {allowed}")
        scored = self.best_metric != "bleu" or self.validation_sentences > 0
        _require(scored, "validation_sentences", self.validation_sentences, "positive where best_metric is bleu")
        saved = self.checkpoint_every > 0 or self.checkpoint_minutes > 0
        allowed = "positive when checkpoint_minutes is 0, or nothing would be saved"
        _require(saved, "checkpoint_every", self.checkpoint_every, allowed)


@dataclass(frozen=True, kw_only=True)
class DecodingConfig(_Config):
    """Options of beam search (Section 6.1).

    Args:
        beam: Hypotheses kept at every step; 1 is greedy.
        alpha: Strength of the length penalty; 0 ranks by log-probability alone.
        length_penalty: ((5 + length) / 6) ** alpha (gnmt), or length ** alpha as in fairseq and Marian (power), where
            the same alpha is much stronger.
        min_length: Minimum tokens of a translation, without `</s>`. Label smoothing gives `</s>` some probability at
            every step, so that with a beam the empty translation may score best.
        early_stopping: Whether the search for a sentence ends as soon as it has `beam` finished hypotheses, as some
            published models want it, even if an unfinished one scores better.
        extra_length: Maximum tokens of a translation beyond the length of its source.
        max_source_tokens: Longer sources are refused.
        alternatives: Runner-up tokens whose probabilities are kept at each step.
        constrained: Whether a parser generates only trees over the words of its sentence; the paper's search
            allows any symbol. No effect on other models.
    """

    beam: Annotated[int, Meta(ge=1, le=1_000)] = 4
    alpha: Annotated[float, Meta(ge=0, le=10)] = 0.6
    length_penalty: LengthPenalty = "gnmt"
    min_length: Annotated[int, Meta(ge=0, le=10_000)] = 0
    early_stopping: bool = False
    extra_length: Annotated[int, Meta(ge=1, le=10_000)] = 50
    max_source_tokens: Annotated[int, Meta(ge=1, le=100_000)] = 1_024
    alternatives: Annotated[int, Meta(ge=0, le=100)] = 5
    constrained: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        # The smallest tree has two brackets and </s> beside its words.
        enough = not self.constrained or self.extra_length >= 3
        _require(enough, "extra_length", self.extra_length, "3 or more with constrained")

    def to_dict(self) -> dict[str, Any]:
        """Like the base method; omits `constrained` when false."""
        return {name: value for name, value in super().to_dict().items() if name != "constrained" or value}


@dataclass(frozen=True, kw_only=True)
class SpecialIds(_Config):
    """Ids of the four special tokens.

    Args:
        pad: Fills a batch up to its longest sentence; never attended to.
        bos: `<s>`, the decoder's first input (the output shifted right, Section 3.1). It may be `pad`, as in Marian, or
            `eos`, as in fairseq.
        eos: `</s>`, ends every source and every translation.
        unk: `<unk>`, for characters that the vocabulary lacks.
        forced_bos: Begins every translation, such as the token of its language; -1 where anything may.
    """

    pad: int = 0
    bos: int = 1
    eos: int = 2
    unk: int = 3
    forced_bos: int = -1

    def __post_init__(self) -> None:
        super().__post_init__()
        ids = (self.pad, self.bos, self.eos, self.unk)
        different = len({self.pad, self.eos, self.unk}) == 3 and self.bos != self.unk
        _require(different and min(ids) >= 0, "special ids", ids, "different numbers from 0 on; bos may be pad or eos")
        allowed = self.forced_bos >= -1 and self.forced_bos not in (self.pad, self.eos, self.unk)
        _require(allowed, "forced_bos", self.forced_bos, "-1 or a token other than pad, eos and unk")

    def to_dict(self) -> dict[str, Any]:
        """Like the base method; omits `forced_bos` where there is none, as in most models."""
        return {name: value for name, value in super().to_dict().items() if name != "forced_bos" or value >= 0}

    @property
    def never_generated(self) -> list[int]:
        """Ids that no search generates: `<pad>`, `<s>` and `<unk>`, but `</s>` where it is `<s>` too."""
        return [each for each in (self.pad, self.bos, self.unk) if each != self.eos]
