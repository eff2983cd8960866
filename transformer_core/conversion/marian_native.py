"""Marian's own files: weights and options in one `.npz`, vocabularies as `.yml` or `.spm`, perhaps a `decoder.yml`.

Marian's decoder starts from an embedding of zeros. Here that is an extra token, also used for padding: its rows are
zeros, and its logit is so low that its probability is 0. Marian's sinusoids have the angles of tensor2tensor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transformer_core.config import DecodingConfig, ModelConfig, SpecialIds, Tie
from transformer_core.conversion.flat_yaml import Value, YamlError, read_flat
from transformer_core.conversion.foreign_config import Options
from transformer_core.conversion.foreign_folder import ForeignFolder
from transformer_core.conversion.marian_weights import embedding_tables, layers, output_bias, with_rows
from transformer_core.conversion.plan import Origin, Plan
from transformer_core.conversion.tensor_sources import NPZ, ConversionError, Npz
from transformer_core.conversion.token_lists import END, PADDING, UNKNOWN, id_of, listed, sentencepiece, tokenizer
from transformer_core.storage.manifest import is_plain
from transformer_core.text.segmenters import SentencePieceSegmenter
from transformer_core.text.vocabulary import TARGET_LANGUAGE

FAMILY = "Marian (its own files)"
_MODEL_OPTIONS, _DECODER = "special:model.yml", "decoder.yml"
_MAX_YAML_BYTES, _MAX_OPTION_BYTES = 64_000_000, 1_000_000
_SPM = {"source": "source.spm", "target": "target.spm"}


def find(folder: ForeignFolder) -> Path | None:
    """Return the `.npz` of a folder: the one named in `decoder.yml`, or the only one; None if there is none.

    Raises:
        ConversionError: There are several, or `decoder.yml` names a file outside the folder.
    """
    named = _names(_yaml(folder, _DECODER).get("models", [])) if folder.has(_DECODER) else []
    if named:
        return folder.path / _in_folder(folder, named[0])
    found = sorted(folder.path.glob(f"*{NPZ}"))
    if len(found) > 1:
        raise ConversionError(f"{folder.path}: has several {NPZ} files; keep one, or name it in {_DECODER}")
    return found[0] if found else None


def plan(folder: ForeignFolder, weights: Path) -> Plan:
    """Plan a Marian model.

    Args:
        folder: The foreign folder.
        weights: Its `.npz`, which becomes the folder's source of tensors.

    Raises:
        ConversionError: Options are unsupported, or the files are inconsistent.
    """
    folder.chosen = weights
    search = _yaml(folder, _DECODER) if folder.has(_DECODER) else {}
    options = Options(FAMILY, _typed(_model_options(weights)))
    files = _vocabulary_files(folder, options, _names(search.get("vocabs", [])))
    shapes, shared = folder.shapes, files["source"] == files["target"]
    tie, tables = embedding_tables(options, shapes, shared=shared)
    ids = {side: _vocabulary(folder, options, name) for side, name in files.items()}
    rows = max(shapes[each.name][0] for name, each in tables.items() if name != "projection.weight")
    special, vocabulary = _tokens(options, files, ids, rows, shared=shared)
    model = _model(options, rows=rows + 1, tie=tie, source_rows=0 if shared else rows + 1)
    decoding, notes = _decoding(search)
    segmenters = {side: _segmenter(folder, options, side, name) for side, name in files.items()}
    return Plan(
        family=FAMILY,
        model=model,
        decoding=decoding,
        tokenizer=tokenizer(options, vocabulary, segmenters["target"], segmenters["source"]),
        origins={
            **{name: Origin(each.name, with_rows(rows + 1, each.change)) for name, each in tables.items()},
            "output_bias": output_bias(shapes, tables["embedding.weight"].name, rows, special.pad),
            **dict(layers(model)),
        },
        ignored=frozenset({_MODEL_OPTIONS}),
        notes=notes,
    )


# --- options ----------------------------------------------------------------------------------------------------------


def _yaml(folder: ForeignFolder, name: str) -> dict[str, Value]:
    return _flat(folder.contents(name, _MAX_YAML_BYTES), folder.path / name)


def _flat(data: bytes, path: Path) -> dict[str, Value]:
    try:
        return read_flat(data.decode("utf-8"))
    except (YamlError, UnicodeDecodeError) as error:
        raise ConversionError(f"{path}: {error}") from error


def _model_options(weights: Path) -> dict[str, Value]:
    file = Npz(weights)
    if not 0 < math.prod(file.shapes.get(_MODEL_OPTIONS, (0,))) <= _MAX_OPTION_BYTES:
        raise ConversionError(f"{weights}: has no {_MODEL_OPTIONS}, so it is not a model of Marian")
    return _flat(file.array(_MODEL_OPTIONS).tobytes().rstrip(b"\0"), weights)


def _typed(values: Mapping[str, Value]) -> dict[str, Any]:
    """Convert numbers and truth values."""

    def typed(value: Value) -> Any:
        if isinstance(value, list):
            return value
        if value in ("true", "false"):
            return value == "true"
        return int(value) if value.lstrip("-").isdecimal() and len(value) < 12 else value

    return {name: typed(value) for name, value in values.items()}


def _model(options: Options, *, rows: int, tie: Tie, source_rows: int) -> ModelConfig:
    pre = _letters(options, "transformer-preprocess", "")
    after = _letters(options, "transformer-postprocess", "an")
    top = _letters(options, "transformer-postprocess-top", "")
    embedding = _letters(options, "transformer-postprocess-emb", "")
    if (pre, after, top) not in (("", "an", ""), ("n", "a", "n")) or embedding not in ("", "n"):
        raise options.fail(
            "supported are post-norm (postprocess dan), and pre-norm (preprocess n, postprocess da, postprocess-top n)"
        )
    _check_options(options)
    activation = options.activation("transformer-ffn-activation")
    if activation == "gelu":
        raise options.fail("transformer-ffn-activation is gelu, which Marian computes in another way")
    return ModelConfig(
        vocab_size=rows,
        source_vocab_size=source_rows,
        d_model=options.number("dim-emb"),
        d_ff=options.number("transformer-dim-ffn"),
        num_layers=options.equal("enc-depth", "dec-depth"),
        num_heads=options.number("transformer-heads"),
        dropout=0.0,
        norm="pre" if pre else "post",
        activation=activation,
        positions="tensor2tensor",
        tie=tie,
        embedding_norm=embedding == "n",
        attention_biases=True,
        output_bias=True,
        layer_norm_epsilon=1e-6,
    )


def _letters(options: Options, name: str, default: str) -> str:
    """Return the operations around a sub-layer, without d (dropout)."""
    value = options.values.get(name, default)
    return value.replace("d", "") if isinstance(value, str) else "?"


def _check_options(options: Options) -> None:
    expected: dict[str, tuple[Any, ...]] = {
        "type": ("transformer",),
        "transformer-decoder-autoreg": ("self-attention",),
        "transformer-no-projection": (False,),
        "transformer-no-bias": (False,),
        "transformer-no-affine": (False,),
        "transformer-rnn-projection": (False,),
        "transformer-train-position-embeddings": (False,),
        "transformer-train-positions": (False,),
        "transformer-ffn-depth": (2,),
        "transformer-decoder-ffn-depth": (0, 2),
        "transformer-decoder-dim-ffn": (0, options.values.get("transformer-dim-ffn")),
        "transformer-tied-layers": ([], ""),
        "lemma-dim-emb": (0,),
        "factors-dim-emb": (0,),
    }
    for name, allowed in expected.items():
        if name in options.values and options.values[name] not in allowed:
            raise options.fail(f"{name} is {str(options.values[name])[:40]!r}, but must be {allowed[0]!r}")
    if options.values.get("type") != "transformer":
        raise options.fail("its options name no type, but must name transformer")


def _decoding(search: Mapping[str, Value]) -> tuple[DecodingConfig, tuple[str, ...]]:
    options = Options(FAMILY, _typed(search))

    def number(name: str, default: float) -> float:
        value = search.get(name, str(default))
        try:
            return float(value) if isinstance(value, str) else default
        except ValueError:
            raise options.fail(f"{_DECODER}: {name} is {value[:40]!r}, but must be a number") from None

    notes = [] if number("word-penalty", 0.0) == 0 else ["word-penalty is not applied"]
    beam, alpha = int(number("beam-size", 6)), number("normalize", 0.0)
    return DecodingConfig(beam=beam, alpha=alpha, length_penalty="power", max_source_tokens=1_000), tuple(notes)


# --- vocabularies -----------------------------------------------------------------------------------------------------


def _names(value: Value) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []


def _in_folder(folder: ForeignFolder, name: str) -> str:
    """Return a file name from `decoder.yml`, which must lie in the folder."""
    name = name.removeprefix("./")
    if not is_plain(name) or "/" in name:
        raise ConversionError(f"{folder.path / _DECODER}: {name[:80]!r} is not the name of a file in this folder")
    return name


def _vocabulary_files(folder: ForeignFolder, options: Options, named: list[str]) -> dict[str, str]:
    """Return the vocabulary of each side: from `decoder.yml`, or from the folder."""
    names = [_in_folder(folder, name) for name in named]
    if not names:
        names = sorted(path.name for path in folder.path.glob("*vocab*") if path.suffix in (".yml", ".yaml", ".spm"))
    if len(names) not in (1, 2):
        raise options.fail(f"it needs one or two vocabularies, {_DECODER} or the folder names {len(names)}")
    return {"source": names[0], "target": names[-1]}


def _vocabulary(folder: ForeignFolder, options: Options, name: str) -> dict[str, Any]:
    """Read token -> id."""
    if name.endswith(".spm"):
        return {token: number for number, token in enumerate(sentencepiece(folder, name).tokens)}
    entries = _yaml(folder, name)
    if not all(isinstance(number, str) and number.isdecimal() and len(number) < 10 for number in entries.values()):
        raise options.fail(f"{name}: not a list of tokens with their ids")
    return {token: int(str(number)) for token, number in entries.items()}


def _segmenter(folder: ForeignFolder, options: Options, side: str, vocabulary: str) -> SentencePieceSegmenter:
    name = vocabulary if vocabulary.endswith(".spm") else _SPM[side]
    if not folder.has(name):
        raise options.fail(f"{name} is missing: text can only be cut by a SentencePiece model")
    return sentencepiece(folder, name)


def _tokens(
    options: Options, files: Mapping[str, str], ids: Mapping[str, dict[str, Any]], rows: int, *, shared: bool
) -> tuple[SpecialIds, dict[str, Any]]:
    """Return the special ids, and the lists with one more token at the end for start and padding."""
    found = {
        side: (id_of(options, files[side], each, END), id_of(options, files[side], each, UNKNOWN))
        for side, each in ids.items()
    }
    if found["source"] != found["target"]:
        raise options.fail(
            f"{END} and {UNKNOWN} have the ids {found['source']} in one vocabulary, {found['target']} in the other"
        )
    eos, unk = found["target"]
    special = SpecialIds(pad=rows, bos=rows, eos=eos, unk=unk)
    lists = {
        side: listed(options, files[side], {**{p: n for p, n in each.items() if p != PADDING}, PADDING: rows}, rows + 1)
        for side, each in ids.items()
    }
    marks = [token for token in ids["source"] if token[:2] == ">>" and token[-2:] == "<<" and token[2:-2]]
    return special, {
        "tokens": lists["target"],
        "source_tokens": () if shared else lists["source"],
        "special": special,
        "languages": {token[2:-2]: token for token in marks},
        "source_prefix": TARGET_LANGUAGE if marks else "",
        "marks": True,
    }
