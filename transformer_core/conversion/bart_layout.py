"""Names and options shared by Marian, M2M-100, NLLB, mBART and BART in transformers, which all descend from BART."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer_core.config import DecodingConfig, ModelConfig, Norm, SpecialIds, Tie
from transformer_core.conversion.foreign_config import Options
from transformer_core.conversion.foreign_folder import ForeignFolder, Shape
from transformer_core.conversion.plan import Origin, Plan
from transformer_core.model.positions import SinusoidalPositions
from transformer_core.storage.files import printable
from transformer_core.text.vocab_json_tokenizer import ListedTokenizer
from transformer_core.text.vocabulary import MAX_TOKENS

_PROJECTIONS = {"w_q": "q_proj", "w_k": "k_proj", "w_v": "v_proj", "w_o": "out_proj"}
_ATTENTIONS = {"self_attention": "self_attn", "cross_attention": "encoder_attn"}
_UNUSED_POSITIONS = 2  # first rows of a trained table
_SIDES = ("encoder", "decoder")
_SHARED, _LM_HEAD = "model.shared.weight", "lm_head.weight"
_ENCODER_TABLE, _DECODER_TABLE = "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"
_MAX_TABLE = 2**25  # values of sinusoids: 16,384 positions of a width of 2,048
OUTPUT_BIAS = "final_logits_bias"
LAYER_NORM_EPSILON = 1e-5  # torch.nn.LayerNorm's default, used by all of these models


def layer_origins(layers: int) -> Iterator[tuple[str, Origin]]:
    """Yield all weights of the layers."""
    for side in _SIDES:
        for layer in range(layers):
            ours, theirs = f"{side}.layers.{layer}", f"model.{side}.layers.{layer}"
            for our, their in _ATTENTIONS.items():
                if side == "encoder" and our == "cross_attention":
                    continue
                for part, projection in _PROJECTIONS.items():
                    yield from _pair(f"{ours}.{our}.{part}", f"{theirs}.{their}.{projection}")
                yield from _pair(f"{ours}.{our}_add_norm.norm", f"{theirs}.{their}_layer_norm")
            yield from _pair(f"{ours}.feed_forward.w_1", f"{theirs}.fc1")
            yield from _pair(f"{ours}.feed_forward.w_2", f"{theirs}.fc2")
            yield from _pair(f"{ours}.feed_forward_add_norm.norm", f"{theirs}.final_layer_norm")


def norm_origins(ours: str, theirs: str) -> Iterator[tuple[str, Origin]]:
    """Yield the weights of a norm that each stack has once."""
    for side in _SIDES:
        yield from _pair(f"{side}.{ours}", f"model.{side}.{theirs}")


def _pair(ours: str, theirs: str) -> Iterator[tuple[str, Origin]]:
    for part in ("weight", "bias"):
        yield f"{ours}.{part}", Origin(f"{theirs}.{part}")


@dataclass(frozen=True)
class Tables:
    """Origins of the embedding matrices.

    Args:
        origins: By our names.
        same: Repeated tensor -> the tensor that it repeats.
        unused: Tensors that the model does not read.
    """

    origins: Mapping[str, Origin]
    same: Mapping[str, str]
    unused: frozenset[str]


def tables(tie: Tie, shapes: Mapping[str, Shape], *, shared: bool) -> Tables:
    """Find the embedding matrices. A file may hold a tied matrix under any of its names, or under all.

    Args:
        tie: Tied embeddings of the converted model.
        shapes: Shapes of the foreign tensors.
        shared: Whether source and target share vocabulary and embedding.
    """
    first = [_SHARED] if shared else []
    if tie == "none":  # transformers prefers the separate tensors to the shared one
        names = {
            "source_embedding.weight": [_ENCODER_TABLE, *first],
            "embedding.weight": [_DECODER_TABLE, *first],
            "projection.weight": [_LM_HEAD],
        }
        origins = {ours: Origin(_there(each, shapes)[0]) for ours, each in names.items()}
        return Tables(origins, {}, frozenset({_SHARED} - {origin.name for origin in origins.values()}))
    if tie == "all":
        names = {"embedding.weight": [*first, _ENCODER_TABLE, _DECODER_TABLE, _LM_HEAD]}
    else:
        names = {"source_embedding.weight": [_ENCODER_TABLE], "embedding.weight": [_DECODER_TABLE, _LM_HEAD]}
    same = {name: there[0] for each in names.values() for there in [_there(each, shapes)] for name in there[1:]}
    return Tables({ours: Origin(_there(each, shapes)[0]) for ours, each in names.items()}, same, frozenset())


def _there(names: Sequence[str], shapes: Mapping[str, Shape]) -> list[str]:
    """Return the names that a file has; if none, the first name, to be reported as missing."""
    return [name for name in names if name in shapes] or list(names[:1])


def bias_origin(folder: ForeignFolder) -> dict[str, Origin]:
    """Return the origin of the output bias; empty if it is missing or all 0, as in models without one."""
    size = math.prod(folder.shapes.get(OUTPUT_BIAS, (0,)))
    if not size or (size <= MAX_TOKENS and not bool(folder.tensor(OUTPUT_BIAS).any())):
        return {}
    return {"output_bias": Origin(OUTPUT_BIAS, lambda bias: bias.reshape(-1))}


def with_learned_positions(
    folder: ForeignFolder, options: Options, norm: Norm
) -> tuple[ModelConfig, dict[str, Origin]]:
    """Return configuration and origins of a model with trained positions, and LayerNorm on its embeddings."""
    bias = bias_origin(folder)
    model = model_config(
        options,
        vocab_size=options.number("vocab_size"),
        tie=tie_of(options, shared=True),
        norm=norm,
        positions="learned",
        scaled_embeddings=options.flag("scale_embedding", False),
        embedding_norm=True,
        output_bias=bool(bias),
    )
    tables = {
        f"{ours}.weight": Origin(f"model.{side}.embed_positions.weight", lambda table: table[_UNUSED_POSITIONS:])
        for ours, side in (("source_positions", "encoder"), ("positions", "decoder"))
    }
    return model, {**dict(norm_origins("embedding_norm", "layernorm_embedding")), **tables, **bias}


def is_table(shape: Shape, d_model: int) -> bool:
    """Return whether a tensor may be a table of positions."""
    return len(shape) == 2 and shape[1] == d_model and math.prod(shape) <= _MAX_TABLE


def sinusoids(model: ModelConfig, shapes: Mapping[str, Shape]) -> dict[str, Callable[[Shape], Tensor]]:
    """Return the expected values of sinusoidal tables that a file may hold although they are computed."""

    def expected(shape: Shape) -> Tensor:
        whole = SinusoidalPositions(
            model.d_model,
            1,
            interleaved=model.positions == "sinusoidal",
            whole_range=model.positions == "tensor2tensor",
        )
        return whole(0, shape[0]) if is_table(shape, model.d_model) else torch.empty(0)

    names = [f"model.{side}.embed_positions.weight" for side in _SIDES if model.positions != "learned"]
    return {name: expected for name in names if name in shapes}


def model_config(options: Options, **more: object) -> ModelConfig:
    """Build the configuration from the options that all families share."""
    return ModelConfig.from_dict(
        {
            "d_model": options.number("d_model"),
            "d_ff": options.equal("encoder_ffn_dim", "decoder_ffn_dim"),
            "num_layers": options.equal("encoder_layers", "decoder_layers"),
            "num_heads": options.equal("encoder_attention_heads", "decoder_attention_heads"),
            "dropout": options.real("dropout", 0.0),
            "attention_dropout": options.real("attention_dropout", 0.0),
            "activation_dropout": options.real("activation_dropout", 0.0),
            "activation": options.activation("activation_function"),
            "layer_norm_epsilon": LAYER_NORM_EPSILON,
            "max_positions": options.number("max_position_embeddings", 1_024),
            "attention_biases": True,
            **more,
        }
    )


def tie_of(options: Options, *, shared: bool) -> Tie:
    """Return which embedding matrices are tied."""
    if not options.flag("tie_word_embeddings", True):
        return "none"
    return "all" if shared else "target"


def special_ids(options: Options, unk: int) -> SpecialIds:
    """Return padding, start and end as the search uses them."""
    return SpecialIds(
        pad=options.search_number("pad_token_id"),
        bos=options.search_number("decoder_start_token_id"),
        eos=options.search_number("eos_token_id"),
        unk=unk,
    )


def planned(
    folder: ForeignFolder,
    options: Options,
    model: ModelConfig,
    tokenizer: ListedTokenizer,
    origins: Mapping[str, Origin],
    *,
    shared: bool = True,
    unread: Collection[str] = (),
) -> Plan:
    """Plan the conversion of a model with this layout.

    Args:
        folder: The foreign folder.
        options: Its configuration.
        model: Configuration of the converted model.
        tokenizer: Its tokenizer.
        origins: Weights outside the layers and embeddings.
        shared: Whether source and target share vocabulary and embedding.
        unread: Tensors that the model does not read.
    """
    embeddings = tables(model.tie, folder.shapes, shared=shared)
    decoding, notes = decoding_config(options, tokenizer.special)
    return Plan(
        family=options.family,
        model=model,
        decoding=decoding,
        tokenizer=tokenizer,
        origins={**embeddings.origins, **dict(layer_origins(model.num_layers)), **origins},
        same=embeddings.same,
        fixed=sinusoids(model, folder.shapes),
        ignored=embeddings.unused | {*unread} | (set() if bias_origin(folder) else {OUTPUT_BIAS}),
        notes=notes,
    )


def decoding_config(options: Options, special: SpecialIds) -> tuple[DecodingConfig, tuple[str, ...]]:
    """Return decoding defaults, and notes on options of the foreign search without a counterpart."""
    search = options.search
    decoding = DecodingConfig(
        beam=max(1, options.search_number("num_beams", 1)),
        alpha=max(0.0, options.real("length_penalty", 1.0, search)),
        length_penalty="power",
        # In transformers the decoder's first input counts as a token.
        min_length=max(0, options.search_number("min_length", 0) - 1),
        early_stopping=search.get("early_stopping") is True,
        max_source_tokens=max(1, options.number("max_position_embeddings", 1_024) - 1),
    )
    notes = []
    neutral = {"no_repeat_ngram_size": 0, "encoder_no_repeat_ngram_size": 0, "repetition_penalty": 1.0}
    for name, value in {**neutral, "num_beam_groups": 1, "diversity_penalty": 0.0}.items():
        if search.get(name) not in (None, value):
            notes.append(f"{name} = {str(search[name])[:40]} is not applied")
    if search.get("length_penalty") is not None and options.real("length_penalty", 1.0, search) < 0:
        notes.append("a negative length_penalty becomes 0")
    bad, never = search.get("bad_words_ids") or [], [[each] for each in special.never_generated]
    if not (isinstance(bad, list) and all(word in never for word in bad)):
        notes.append(f"bad_words_ids = {str(bad)[:40]} are not forbidden")
    return decoding, tuple(map(printable, notes))
