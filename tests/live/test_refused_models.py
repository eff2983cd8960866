"""A model that the browser does not run is refused in Python, with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.core.conversion.twins import tokens_model
from transformer_core.config import ModelConfig
from transformer_core.model.transformer import Transformer
from transformer_core.model_export.refusals import ExportError
from transformer_core.text.bpe_model import check_bpe
from transformer_core.text.tokenizer import Tokenizer, TokenizerError
from transformer_core.translator import Translator
from viz_app.explorer_view import live_model
from viz_app.explorer_view.live_model import check_live
from viz_app.text.examples import EXAMPLES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(EXAMPLES.values(), vocab_size=90, threads=1)


def translator(tokenizer: Tokenizer, **options: Any) -> Translator:
    sizes: dict[str, Any] = {"d_model": 8, "d_ff": 8, "num_layers": 1, "num_heads": 2, "vocab_size": len(tokenizer)}
    return Translator(Transformer(ModelConfig(**sizes, **options)), tokenizer)


@pytest.mark.parametrize("name", ["en-de", "en-fr", "en-fr-small"])
def test_the_shipped_translators_run(name: str) -> None:
    check_live(Translator.load(ROOT / "checkpoints" / name))


@pytest.mark.parametrize("tie", ["all", "target", "none"])
def test_scaling_biases_and_ties_run(tie: str, tokenizer: Tokenizer) -> None:
    check_live(
        translator(tokenizer, tie=tie, scaled=False, scaled_embeddings=False, output_bias=True, first_position=2)
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"norm": "pre"}, "norm is 'pre', but the browser supports only 'post'"),
        ({"activation": "gelu"}, "activation is 'gelu'"),
        ({"positions": "learned"}, "positions is 'learned'"),
        ({"positions": "tensor2tensor"}, "positions is 'tensor2tensor'"),
        ({"attention": "additive"}, "attention is 'additive'"),
        ({"residual": False}, "residual is False"),
        ({"causal": False}, "causal is False"),
        ({"window": 2}, "window is 2"),
        ({"embedding_norm": True}, "embedding_norm is True"),
        ({"tie": "none", "source_vocab_size": 90}, "source_vocab_size is 90"),
    ],
)
def test_other_configurations_are_refused(options: dict[str, Any], reason: str, tokenizer: Tokenizer) -> None:
    with pytest.raises(ExportError, match=reason):
        check_live(translator(tokenizer, **options))


def test_a_parser_is_refused(parser_checkpoint: Path) -> None:
    with pytest.raises(ExportError, match="this model generates trees"):
        check_live(Translator.load(parser_checkpoint))


def test_two_vocabularies_are_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(ExportError, match="one SentencePiece vocabulary"):
        check_live(translator(Tokenizer(tokenizer.model, tokenizer.model)))


def test_a_model_too_large_for_a_browser_is_refused(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_model, "MAX_PARAMETERS", 1000)
    with pytest.raises(ExportError, match="parameters, but the browser runs at most 1,000"):
        check_live(translator(tokenizer))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"kind": "unigram"}, "not byte-pair encodings"),
        ({"kind": "char"}, "not byte-pair encodings"),
        ({"byte_fallback": True, "size": 400}, "as bytes"),
        ({"treat_whitespace_as_suffix": True}, "end with a mark"),
        ({"unk_surface": "?"}, "a text of its own"),
        ({"normalization_rule_name": "identity"}, "no table of characters"),
        ({"remove_extra_whitespaces": False}, "keeps white space"),
        ({"add_dummy_prefix": False}, "keeps white space"),
        ({"user_defined_symbols": ["cat"]}, "tokens of its user"),
        ({"split_by_whitespace": False, "size": 300}, "tokens of several words"),
    ],
)
def test_other_vocabularies_are_refused(options: dict[str, Any], reason: str) -> None:
    given = {"size": 90, "kind": "bpe", "normalization_rule_name": "nmt_nfkc", "pad_id": 3, **options}
    with pytest.raises(TokenizerError, match=reason):
        check_bpe(tokens_model([*EXAMPLES.values()] * 3, **given))
