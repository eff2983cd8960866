"""The Transformer of "Attention Is All You Need" (Section 3, Figure 1).

Shape legend: B sentences, S source positions, T target positions, d = d_model, V = vocab_size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor, nn

from transformer_core.config import ModelConfig
from transformer_core.cpu.dropout import Dropout
from transformer_core.hooks.hook_point import report_padding, run_hooks
from transformer_core.hooks.points import name_hook_points
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.float16_matrices import HalfEmbedding, stored_matrices, use_float16_matrices
from transformer_core.model.layers import Decoder, DecoderLayer, Encoder, SharedEmbedding
from transformer_core.model.positions import LearnedPositions, NoPositions, SinusoidalPositions
from transformer_core.storage.tensor_files import shapes_of


class Transformer(nn.Module):
    """Encoder, decoder and the embedding matrix that they share.

    `embedding` embeds the target; it also embeds the source and projects to the output, unless the configuration
    unties them into `source_embedding` and `projection`. Learned positions of the source are `source_positions`;
    sinusoids are the same for both.

    Masks are boolean, True where a source position is not padding. Devices, text and training are handled elsewhere.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        vocab_size, d_model = config.vocab_size, config.d_model
        scaled, sources = config.scaled_embeddings, config.source_vocab_size or vocab_size
        self.embedding = SharedEmbedding(vocab_size, d_model, scaled=scaled)
        self.source_embedding = None if config.tie == "all" else SharedEmbedding(sources, d_model, scaled=scaled)
        self.projection = SharedEmbedding(vocab_size, d_model) if config.tie == "none" else None
        self.output_bias = nn.Parameter(torch.empty(vocab_size)) if config.output_bias else None
        learned = config.positions == "learned"
        self.positions = _positions(config)
        self.source_positions = LearnedPositions(d_model, config.max_positions) if learned else None
        self.dropout = Dropout(config.dropout)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        name_hook_points(self)
        self.reset_parameters()

    @classmethod
    def from_weights(cls, config: ModelConfig, weights: Mapping[str, Tensor], *, half: bool = False) -> Transformer:
        """Return a model with a copy of these weights in float32, on their device; draws no random numbers.

        Tensors of `TensorsOnDemand` are read one at a time.

        Args:
            config: Of the model.
            weights: Name -> tensor.
            half: Whether the matrices are no copies, but these tensors as they are; see `float16_matrices.py`.

        Raises:
            ValueError: See `check_shapes`; before memory is taken for the model.
        """
        model = cls.check_shapes(config, shapes_of(weights))
        if half:
            use_float16_matrices(model)
        model.positions = _positions(config)  # what no file holds
        matrices = stored_matrices(model)
        weights_of_model = {
            name: weight.detach() if name in matrices else weight.detach().to(torch.float32, copy=True)
            for name, weight in weights.items()
        }
        model.load_state_dict(weights_of_model, assign=True)
        return model

    @property
    def has_half_weights(self) -> bool:
        """Whether the matrices stay in memory as they are stored; such a model cannot be trained."""
        return isinstance(self.embedding, HalfEmbedding)

    def train(self, mode: bool = True) -> Self:
        """Set training mode. Raises ValueError for float16 weights."""
        if mode and self.has_half_weights:
            raise ValueError("weights in float16 cannot be trained; load the checkpoint with half=False")
        return super().train(mode)

    @classmethod
    def check_shapes(cls, config: ModelConfig, shapes: Mapping[str, tuple[int, ...]]) -> Transformer:
        """Build the model on the meta device, without memory for weights. Raises ValueError when they do not fit."""
        with torch.device("meta"):  # shapes only: drawing weights takes far longer than copying them
            model = cls(config)
        check_shapes(model, shapes)
        return model

    def reset_parameters(self) -> None:
        """Draw new weights: Glorot with Q, K and V as one projection, embeddings from N(0, 1 / d_model).

        Untied matrices and learned positions are drawn like the embedding; biases are 0.
        """
        if self.embedding.weight.is_meta:  # nothing to draw, and to find that out PyTorch loads its compiler first
            return
        for table in (self.embedding, self.source_embedding, self.projection, self.positions, self.source_positions):
            if isinstance(table, SharedEmbedding | LearnedPositions):
                nn.init.normal_(table.weight, std=self.config.d_model**-0.5)
        if self.output_bias is not None:
            nn.init.zeros_(self.output_bias)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        for name, module in self.named_modules():
            if isinstance(module, MultiHeadAttention):
                # Queries of encoder-decoder attention come from another sequence, so only K and V are one projection.
                fused = (
                    [module.w_k, module.w_v]
                    if name.endswith("cross_attention")
                    else [module.w_q, module.w_k, module.w_v]
                )
                _glorot_as_one(fused)
                module.reset_extra_parameters()

    def embed(
        self, ids: Tensor, first_position: int = 0, *, of_source: bool = False, mask: Tensor | None = None
    ) -> Tensor:
        """(B, n) ids -> (B, n, d): embeddings plus positions, with dropout on the sum (Sections 3.4, 3.5, 5.4).

        With `embedding_norm` the sum is normalised first. Captures keep the mask, (B, 1, 1, n), beside their values.

        Raises:
            TooLong: More positions than the model has learned.
        """
        embedding, positions = self.embedding, self.positions
        stack: Encoder | Decoder = self.decoder
        if of_source:
            embedding, positions = self.source_embedding or embedding, self.source_positions or positions
            stack = self.encoder
        report_padding(stack.padding, ids, mask)
        summed = stack.embedding_norm(embedding(ids) + positions(first_position, ids.shape[1]))
        out: Tensor = self.dropout(run_hooks(stack.embeddings, summed))
        return out

    def encode(self, source: Tensor, source_mask: Tensor | None) -> Tensor:
        """Encode the source.

        Args:
            source: (B, S) ids, each sentence ending with </s>.
            source_mask: (B, 1, 1, S); None if there is no padding.

        Returns:
            (B, S, d), one vector for each source position.
        """
        x = self.embed(source, of_source=True, mask=source_mask)
        for layer in self.encoder.layers:
            x = layer(x, source_mask)
        out: Tensor = self.encoder.norm(x)
        return out

    def decode(
        self, target: Tensor, memory: Tensor, source_mask: Tensor | None, target_mask: Tensor | None = None
    ) -> Tensor:
        """Decode the whole target at once; with the causal mask each position attends to itself and earlier ones.

        Args:
            target: (B, T) decoder inputs: <s> and the tokens (the output shifted right).
            memory: (B, S, d) from `encode`.
            source_mask: (B, 1, 1, S); None if there is no padding.
            target_mask: (B, 1, 1, T); needed only if there is padding, by a model without the causal mask, and by means
                of captured values.

        Returns:
            (B, T, d); `logits` of position t predict the token after target[:, t].
        """
        x = self.embed(target, mask=target_mask)
        mask = None if self.config.causal else target_mask  # masked self-attention hides later positions itself
        for layer in self.decoder.layers:
            assert isinstance(layer, DecoderLayer)
            x = layer(
                x,
                lambda x, layer=layer: layer.self_attention(x, x, mask),
                lambda x, layer=layer: layer.cross_attention(x, memory, source_mask),
            )
        out: Tensor = self.decoder.norm(x)
        return out

    def logits(self, x: Tensor) -> Tensor:
        """(B, n, d) from `decode` -> (B, n, V); softmax of these is the probability of each next token."""
        return run_hooks(self.decoder.logits, (self.projection or self.embedding).logits(x, self.output_bias))

    @property
    def output_weight(self) -> nn.Parameter:
        """(V, d), the matrix of the output projection."""
        return (self.projection or self.embedding).weight

    def forward(
        self, source: Tensor, target: Tensor, source_mask: Tensor | None, target_mask: Tensor | None = None
    ) -> Tensor:
        """Return the logits of each next token, (B, T, V).

        Args:
            source: (B, S) ids, each sentence ending with </s>.
            target: (B, T) decoder inputs.
            source_mask: (B, 1, 1, S); None if there is no padding.
            target_mask: (B, 1, 1, T); see `decode`.

        Raises:
            TooLong: More positions than the model has learned.
        """
        return self.logits(self.decode(target, self.encode(source, source_mask), source_mask, target_mask))


def _positions(config: ModelConfig) -> SinusoidalPositions | LearnedPositions | NoPositions:
    if config.positions == "none":
        return NoPositions(config.d_model)
    if config.positions == "learned":
        return LearnedPositions(config.d_model, config.max_positions)
    return SinusoidalPositions(
        config.d_model,
        interleaved=config.positions == "sinusoidal",
        whole_range=config.positions == "tensor2tensor",
        offset=config.first_position,
    )


def _glorot_as_one(parts: list[nn.Linear]) -> None:
    """Glorot for several projections of one input, drawn as if they were a single matrix."""
    fan_out = sum(part.out_features for part in parts)
    bound = math.sqrt(6.0 / (parts[0].in_features + fan_out))
    for part in parts:
        nn.init.uniform_(part.weight, -bound, bound)


def count_parameters(model: nn.Module) -> int:
    """Return trainable parameters; the shared matrix counts once."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def check_shapes(model: nn.Module, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Raise ValueError naming the weight of a model that is missing, unknown, or of another shape."""
    expected = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    missing, unknown = sorted(expected.keys() - shapes.keys()), sorted(shapes.keys() - expected.keys())
    if missing or unknown:
        raise ValueError(f"weights do not fit the model: missing {missing[:3]}, unknown {unknown[:3]}")
    wrong = [name for name in expected if expected[name] != shapes[name]]
    if wrong:
        raise ValueError(f"{wrong[0]} has shape {shapes[wrong[0]]}, the model needs {expected[wrong[0]]}")


def load_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy weights into the parameters of a model, in their number format. Raises ValueError: see `check_shapes`."""
    check_shapes(model, {name: tuple(tensor.shape) for name, tensor in weights.items()})
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
