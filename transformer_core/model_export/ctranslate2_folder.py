"""Export to CTranslate2, with its own specification of a Transformer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer_core.attention_variants import Feature
from transformer_core.checkpoint import Checkpoint
from transformer_core.config import Activation, DecodingConfig, ModelConfig
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import Decoder, DecoderLayer, Encoder, EncoderLayer, SharedEmbedding
from transformer_core.model_export.refusals import ExportError, check_plain_attention, check_table
from transformer_core.model_export.search import penalty_notes, power
from transformer_core.model_export.vocabulary import TokenLists, token_lists, write_segmenters

_PROGRAM: Feature = "CTranslate2"
_ACTIVATIONS: dict[Activation, str] = {"relu": "RELU", "gelu": "GELU", "swish": "SWISH"}

USAGE = """```python
import ctranslate2
import sentencepiece

source, target = (sentencepiece.SentencePieceProcessor(f"{side}.spm") for side in ("source", "target"))
translator = ctranslate2.Translator(".")
tokens = source.encode("A man rides a bicycle.", out_type=str)
(result,) = translator.translate_batch([tokens], {options})
print(target.decode(result.hypotheses[0]))
```
"""


def write_ctranslate2(checkpoint: Checkpoint, folder: Path) -> tuple[str, ...]:
    """Write the folder of a CTranslate2 model; return notes on differences.

    Raises:
        ExportError: CTranslate2 is not installed, or lacks one of the model's options.
    """
    config, decoding = checkpoint.model.config, checkpoint.decoding
    check_plain_attention(_PROGRAM, config, scaled=config.scaled)
    lists = token_lists(_PROGRAM, checkpoint.tokenizer)
    spec = _specification(checkpoint, lists)
    spec.validate()
    spec.optimize()
    spec.save(str(folder))
    write_segmenters(lists, folder)
    return (*lists.notes, *_notes(decoding))


def usage(checkpoint: Checkpoint) -> str:
    """Return an example of a translation with the folder, with the checkpoint's search."""
    special = checkpoint.tokenizer.special
    never = {each: checkpoint.tokenizer.token(each) for each in special.never_generated if each != special.unk}
    decoding = checkpoint.decoding
    options = {
        "beam_size": decoding.beam,
        "length_penalty": power(decoding),
        "min_decoding_length": decoding.min_length,
        "disable_unk": True,
        "suppress_sequences": [[token] for token in never.values()],
    }
    return USAGE.replace("{options}", ", ".join(f"{name}={value!r}" for name, value in options.items()))


def _specification(checkpoint: Checkpoint, lists: TokenLists) -> Any:
    try:
        from ctranslate2.specs import TransformerSpec, common_spec
    except ModuleNotFoundError as error:
        raise ExportError("needs CTranslate2: python -m pip install 'headlight[export]'") from error
    model, config = checkpoint.model, checkpoint.model.config
    spec = TransformerSpec.from_config(
        config.num_layers,
        config.num_heads,
        pre_norm=config.norm == "pre",
        activation=common_spec.Activation[_ACTIVATIONS[config.activation]],
        layernorm_embedding=config.embedding_norm,
    )
    rows = config.max_length or checkpoint.decoding.max_source_tokens + 1 + checkpoint.decoding.extra_length
    check_table(config, rows)
    _set_stack(spec.encoder, model.encoder, config)
    _set_embedding(spec.encoder, spec.encoder.embeddings[0], model.source_embedding or model.embedding)
    spec.encoder.position_encodings.encodings = _value((model.source_positions or model.positions)(0, rows))
    _set_stack(spec.decoder, model.decoder, config)
    _set_embedding(spec.decoder, spec.decoder.embeddings, model.embedding)
    spec.decoder.position_encodings.encodings = _value(model.positions(0, rows))
    spec.decoder.projection.weight = _value(model.output_weight)
    if model.output_bias is not None:
        spec.decoder.projection.bias = _value(model.output_bias)
    spec.register_source_vocabulary(list(lists.source))
    spec.register_target_vocabulary(list(lists.target))
    for name in ("bos", "eos", "unk"):
        setattr(spec.config, f"{name}_token", lists.special_token(name))
    spec.config.decoder_start_token = lists.special_token("bos")
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = config.layer_norm_epsilon
    return spec


def _value(tensor: Tensor) -> Tensor:
    return tensor.detach().float().contiguous()


def _set_embedding(stack: Any, spec: Any, embedding: SharedEmbedding) -> None:
    spec.weight = _value(embedding.weight)
    stack.scale_embeddings = embedding.scale


def _set_stack(spec: Any, stack: Encoder | Decoder, config: ModelConfig) -> None:
    """Set all layers of encoder or decoder, and the norms around them."""
    if isinstance(stack.norm, nn.LayerNorm):
        _set_pair(spec.layer_norm, stack.norm, "gamma", "beta")
    if isinstance(stack.embedding_norm, nn.LayerNorm):
        _set_pair(spec.layernorm_embedding, stack.embedding_norm, "gamma", "beta")
    for layer_spec, layer in zip(spec.layer, stack.layers, strict=True):
        assert isinstance(layer, EncoderLayer | DecoderLayer)
        attentions = [(layer_spec.self_attention, layer.self_attention, layer.self_attention_add_norm)]
        if isinstance(layer, DecoderLayer):
            attentions.append((layer_spec.attention, layer.cross_attention, layer.cross_attention_add_norm))
        for number, (attention_spec, attention, add_norm) in enumerate(attentions):
            _set_attention(attention_spec, attention, of_itself=number == 0)
            _set_pair(attention_spec.layer_norm, add_norm.norm, "gamma", "beta")
            if not config.scaled:
                attention_spec.queries_scale = 1.0
        _set_pair(layer_spec.ffn.linear_0, layer.feed_forward.w_1)
        _set_pair(layer_spec.ffn.linear_1, layer.feed_forward.w_2)
        _set_pair(layer_spec.ffn.layer_norm, layer.feed_forward_add_norm.norm, "gamma", "beta")


def _set_attention(spec: Any, attention: MultiHeadAttention, *, of_itself: bool) -> None:
    """Set an attention. CTranslate2 joins W^Q, W^K and W^V; between encoder and decoder only W^K and W^V."""
    queries, pair = attention.w_q, (attention.w_k, attention.w_v)
    for linear, parts in zip(spec.linear, [(queries, *pair)] if of_itself else [(queries,), pair], strict=False):
        linear.weight = _value(torch.cat([part.weight for part in parts]))
        if queries.bias is not None:
            linear.bias = _value(torch.cat([part.bias for part in parts]))
    _set_pair(spec.linear[-1], attention.w_o)


def _set_pair(spec: Any, module: nn.Linear | nn.LayerNorm, weight: str = "weight", bias: str = "bias") -> None:
    setattr(spec, weight, _value(module.weight))
    if module.bias is not None:
        setattr(spec, bias, _value(module.bias))


def _notes(decoding: DecodingConfig) -> list[str]:
    notes = ["the search is chosen by the caller: README.md has the options that come nearest to the checkpoint's"]
    notes.append("a token that is forbidden there leaves its probability to the others, so scores are a little higher")
    if not decoding.early_stopping and decoding.alpha:
        notes.append("a search under a length penalty ends at as many finished hypotheses as the beam has")
    return [*notes, *penalty_notes(decoding)]
