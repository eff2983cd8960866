"""Attention of models of transformers, with random weights: compared with their own tensors and with forced passes."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from transformer_core import foreign_attention
from transformer_core.attention_maps import AttentionMaps, MapsTooLarge
from transformer_core.foreign_attention import UNKNOWN, axis_of

transformers = pytest.importorskip("transformers")

SIZES = {"vocab_size": 40, "attn_implementation": "eager"}
LAYERS = {"encoder_layers": 2, "decoder_layers": 1, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
IDS = {"pad_token_id": 0, "eos_token_id": 1, "forced_eos_token_id": None, "decoder_start_token_id": 0}
MODELS: dict[str, dict[str, Any]] = {
    "GPT2LMHeadModel": {"n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 32},
    "BertModel": {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 16},
    "T5ForConditionalGeneration": {
        **{"d_model": 12, "d_kv": 4, "d_ff": 16, "num_layers": 2, "num_heads": 3, "decoder_start_token_id": 0},
    },
    "LlamaForCausalLM": {
        **{"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2},
        **{"num_attention_heads": 4, "num_key_value_heads": 2},
    },
    "MarianMTModel": {
        **{"d_model": 12, "encoder_attention_heads": 3, "decoder_attention_heads": 2, "max_position_embeddings": 32},
        **{**LAYERS, **IDS},
    },
}
ONE_STACK, TWO_STACKS = ("GPT2LMHeadModel", "LlamaForCausalLM"), ("T5ForConditionalGeneration", "MarianMTModel")


def make(name: str) -> Any:
    kind = getattr(transformers, name)
    return kind(kind.config_class(**MODELS[name], **SIZES))


SOURCE = torch.tensor([[5, 9, 17, 8, 3], [6, 6, 30, 2, 3]])
TARGET = torch.tensor([[0, 12, 13], [0, 14, 15]])


@pytest.fixture
def model(request: pytest.FixtureRequest) -> Any:
    torch.manual_seed(3)
    made = make(request.param)
    with torch.no_grad():  # sharp attention, so that a wrong row or head shows
        for parameter in made.parameters():
            parameter.mul_(4)
    return made.eval()


def names(ids: Any) -> list[str]:
    return [f"\u2581w{int(i)}" for i in ids]


def stacked(layers: Any, row: int) -> np.ndarray:
    return np.stack([layer[row].detach().numpy() for layer in layers])


@pytest.mark.parametrize(
    ("model", "kind"), [*((name, "decoder") for name in ONE_STACK), ("BertModel", "encoder")], indirect=["model"]
)
def test_a_model_with_one_sequence_has_one_kind(model: Any, kind: Any) -> None:
    outputs = model(SOURCE, output_attentions=True)
    maps = AttentionMaps.from_transformers(outputs, names(SOURCE[1]), row=1)
    assert maps.kinds == (kind,)
    np.testing.assert_allclose(maps.weights(kind), stacked(outputs.attentions, 1), atol=1e-6)
    assert maps.queries(kind).tokens == maps.keys(kind).tokens == tuple(names(SOURCE[1]))
    assert maps.outputs.tokens == ((*names(SOURCE[1])[1:], UNKNOWN) if kind == "decoder" else ())
    with pytest.raises(ValueError, match=f"'cross', but this model has only {kind}"):
        maps.weights("cross")
    assert maps.merged_to_words().kinds == (kind,)
    if kind == "decoder":
        named = AttentionMaps.from_transformers(outputs, target_tokens=[*names(SOURCE[0]), "next"], row=0)
        assert named.outputs.tokens[-1] == "next"
    else:
        with pytest.raises(ValueError, match="looks ahead, so it is an encoder's"):
            AttentionMaps.from_transformers(outputs, target_tokens=names(SOURCE[0]), row=0)


@pytest.mark.parametrize("model", TWO_STACKS, indirect=True)
def test_an_encoder_decoder_has_three(model: Any) -> None:
    outputs = model(SOURCE, decoder_input_ids=TARGET, output_attentions=True)
    maps = AttentionMaps.from_transformers(outputs, names(SOURCE[0]), names(TARGET[0]), row=0)
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(maps.weights(kind), stacked(getattr(outputs, f"{kind}_attentions"), 0), atol=1e-6)
    assert maps.source.tokens == tuple(names(SOURCE[0]))
    assert (maps.inputs.tokens, maps.outputs.tokens) == (tuple(names(TARGET[0])), (*names(TARGET[0])[1:], UNKNOWN))


GENERATE = {"output_attentions": True, "return_dict_in_generate": True, "max_new_tokens": 5, "pad_token_id": 0}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_cache": False},
        {"cache_implementation": "static"},
        {"num_beams": 3, "num_return_sequences": 2},
        {"num_beams": 3, "num_return_sequences": 3, "eos_token_id": 7, "length_penalty": -2.0},
        {"do_sample": True, "num_return_sequences": 2},
    ],
    ids=["greedy", "no cache", "static cache", "beams", "beams that end", "samples"],
)
@pytest.mark.parametrize("model", [*ONE_STACK, *TWO_STACKS], indirect=True)
def test_steps_of_generate_are_those_of_a_forced_pass(model: Any, options: dict[str, Any]) -> None:
    model.double()  # so that only the order of operations differs between steps and a forced pass
    two = model.config.is_encoder_decoder
    outputs = model.generate(SOURCE, **{"eos_token_id": 39, **GENERATE, **options})
    for row, ids in enumerate(outputs.sequences):
        source = SOURCE[row * len(SOURCE) // len(outputs.sequences)]
        maps = AttentionMaps.from_transformers(outputs, names(source) if two else None, names(ids), row=row)
        length = len(maps.inputs)
        inputs = ids[None, :length]
        with torch.no_grad():
            forced = (
                model(source[None], decoder_input_ids=inputs, output_attentions=True)
                if two
                else model(inputs, output_attentions=True)
            )
        expected: dict[Any, Any] = (
            {"decoder": forced.attentions}
            if not two
            else {kind: getattr(forced, f"{kind}_attentions") for kind in ("encoder", "decoder", "cross")}
        )
        assert maps.kinds == tuple(expected)
        for kind, layers in expected.items():
            np.testing.assert_allclose(maps.weights(kind), stacked(layers, 0), atol=1e-6)
        assert (*maps.inputs.tokens[1:], maps.outputs.tokens[-1]) == tuple(names(ids[1 : length + 1]))


@pytest.mark.parametrize("model", ["GPT2LMHeadModel"], indirect=True)
def test_without_weights_the_error_says_what_to_do(model: Any) -> None:
    model.set_attn_implementation("sdpa")
    for outputs in (
        model(SOURCE),
        model(SOURCE, output_attentions=True),
        model.generate(SOURCE, **GENERATE),
        SimpleNamespace(attentions=(None, None)),
        {"encoder_attentions": ()},
    ):
        with pytest.raises(ValueError, match='attn_implementation="eager"'):
            AttentionMaps.from_transformers(outputs, names(SOURCE[0]))


def rows(*shape: int, seed: int = 0, causal: bool = False) -> np.ndarray:
    weights = np.random.default_rng(seed).random(shape).astype(np.float32) + 0.1
    weights = np.tril(weights) if causal else weights
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def test_layers_may_differ_in_heads_and_have_none() -> None:
    layers = [rows(3, 4, 4), rows(1, 4, 4, seed=1), rows(1, 2, 4, 4, seed=2)]
    maps = AttentionMaps.from_arrays(encoder=layers, source_tokens=["a", "b", "c", "d"])
    assert maps.weights("encoder").shape == (3, 3, 4, 4)
    there = maps.existing("encoder").tolist()
    assert there == [[True, True, True], [True, False, False], [True, True, False]]
    np.testing.assert_allclose(maps.encoder[2, :2], layers[2][0], atol=1e-6)
    hybrid = SimpleNamespace(attentions=(None, torch.tensor(rows(1, 2, 4, 4, causal=True)), None))
    maps = AttentionMaps.from_transformers(hybrid, list("abcd"))
    assert maps.kinds == ("decoder",) and maps.layers("decoder") == 3
    assert maps.existing("decoder")[:, 1].tolist() == [False, True, False]


def test_weights_of_eight_bits_sum_to_one_again() -> None:
    weights = torch.full((1, 2, 3, 3), 1 / 3).bfloat16()
    assert (weights.float().sum(-1) - 1).abs().max() > 1e-3
    maps = AttentionMaps.from_transformers(SimpleNamespace(attentions=[weights]), list("abc"))
    np.testing.assert_allclose(maps.encoder, 1 / 3, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "there is no attention"),
        ({"encoder": rows(2, 2, 3, 3)}, "source_tokens has 0 tokens, but the attention has 3 positions"),
        (
            {"decoder": rows(2, 2, 3, 3, causal=True), "target_tokens": list("abcde")},
            "5 tokens.* 3 positions .or 4, with",
        ),
        ({"decoder": rows(2, 2, 3, 3), "target_tokens": list("abc")}, "looks ahead"),
        ({"encoder": rows(2, 2, 3, 3), "source_tokens": "abc"}, "one text"),
        ({"encoder": rows(2, 2, 3, 3), "source_tokens": ["a", "b", 3]}, "holds '3', but must hold texts"),
        ({"encoder": rows(2, 2, 3, 3), "source_tokens": ["a", "b", "c" * 1001]}, "up to 1,000 characters"),
        ({"encoder": rows(2, 2, 3, 3), "source_tokens": list("abc"), "target_tokens": ["x"]}, "target_tokens has 1"),
        ({"encoder": [rows(2, 3, 3), rows(2, 4, 4)], "source_tokens": list("abc")}, "same queries and keys"),
        ({"encoder": [rows(2, 3), rows(2, 3)], "source_tokens": list("abc")}, "must be .heads, queries, keys"),
        ({"encoder": [rows(2, 2, 3, 3)], "source_tokens": list("abc")}, "must be .heads, queries, keys"),
        ({"encoder": [None], "source_tokens": list("abc")}, "must be .heads, queries, keys"),
        ({"encoder": rows(2, 2, 3, 3) * 0.9, "source_tokens": list("abc")}, "head 0, query 0 .*0.9000.*dropout"),
        ({"encoder": rows(2, 2, 3, 3) - 1, "source_tokens": list("abc")}, "encoder attention.* negative weight"),
        ({"encoder": rows(2, 2, 3, 3) * np.nan, "source_tokens": list("abc")}, "holds NaN"),
        ({"encoder": rows(2, 2, 3, 3) * np.inf, "source_tokens": list("abc")}, "above 1"),
        (
            {
                "encoder": rows(1, 1, 3, 3),
                "cross": rows(1, 1, 2, 4),
                "source_tokens": list("abc"),
                "target_tokens": "ab",
            },
            r"\[3, 4\] source positions",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        AttentionMaps.from_arrays(**arguments)
    assert "\n" not in str(error.value)


def test_the_size_is_refused_before_memory_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = np.broadcast_to(np.float32(1e-4), (64, 64, 10_000, 10_000))  # 1.6 TB, if anybody copied it
    with pytest.raises(MapsTooLarge, match="at most 1,073,741,824"):
        AttentionMaps.from_arrays(encoder=list(wide), source_tokens=["a"] * 10_000)
    tensor = torch.zeros(1).expand(1, 64, 10_000, 10_000)
    for outputs in (
        SimpleNamespace(attentions=(tensor,) * 9),
        SimpleNamespace(sequences=[[0]], attentions=((tensor,) * 9,)),
    ):
        with pytest.raises(MapsTooLarge):
            AttentionMaps.from_transformers(outputs, ["a"] * 10_000)


def test_a_batch_asks_for_a_row_that_it_has() -> None:
    two = SimpleNamespace(attentions=(torch.tensor(rows(2, 1, 3, 3)),))
    steps = SimpleNamespace(sequences=[[0]], attentions=((torch.tensor(rows(1, 1, 3, 3)),),))
    for outputs, row, message in (
        (two, None, "the batch has 2 rows: say which with row="),
        (two, 2, "row is 2, but must be between 0 and 1"),
        (steps, -1, "row is -1"),
    ):
        with pytest.raises(ValueError, match=message):
            AttentionMaps.from_transformers(outputs, list("abc"), row=row)


def test_steps_without_their_sequences_and_a_cut_cache_are_refused() -> None:
    steps = tuple((torch.tensor(rows(1, 1, 1, 3 if step else 1)),) for step in range(6))
    with pytest.raises(ValueError, match="return_dict_in_generate=True"):
        AttentionMaps.from_transformers(SimpleNamespace(attentions=steps), list("abcdef"))
    with pytest.raises(ValueError, match="step 3 has only 3 keys: the cache has dropped"):
        AttentionMaps.from_transformers(SimpleNamespace(attentions=steps, sequences=[[0]]), list("abcdef"))


@pytest.mark.parametrize(
    ("tokens", "shown", "words"),
    [
        (
            ["The", "\u0120d", "og", "!", "<|endoftext|>"],
            ["The", "\u2581d", "og", "!", "<|endoftext|>"],
            [0, 1, 1, 2, 3],
        ),
        (["caf", "\u00c3\u00a9", "\u0120x"], ["caf", "\u00e9", "\u2581x"], [0, 0, 1]),
        (["[CLS]", "dog", "##s", "run", "[SEP]"], ["[CLS]", "\u2581dog", "s", "\u2581run", "[SEP]"], [0, 1, 1, 2, 3]),
        (["do", "gs</w>", "run</w>", "</s>"], ["\u2581do", "gs", "\u2581run", "</s>"], [0, 0, 1, 2]),
        (["<pad>", "\u2581dog", "s", "</s>"], ["<pad>", "\u2581dog", "s", "</s>"], [0, 1, 1, 2]),
        (["the", "dog", "</s>"], ["the", "dog", "</s>"], [0, 1, 2]),
        (["<0x0A>", "[x]", "##"], ["<0x0A>", "[x]", "##"], [0, 1, 2]),
    ],
)
def test_marks_of_words_of_each_tokenizer_are_read(tokens: list[str], shown: list[str], words: list[int]) -> None:
    axis = axis_of(tokens)
    assert (axis.tokens, axis.words) == (tuple(shown), tuple(words))
    assert [token for token, mark in zip(axis.tokens, axis.special, strict=True) if mark] == [
        token for token in tokens if token in {"<|endoftext|>", "[CLS]", "[SEP]", "</s>", "<pad>"}
    ]


def test_the_lines_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    code = guide.split("## Any model's attention")[1].split("```python\n")[1].split("```")[0]
    tokenizer = lambda text, return_tensors: {"input_ids": torch.tensor([[1, 2, 3, 4]])}  # noqa: E731
    tokenizer.convert_ids_to_tokens = names  # type: ignore[attr-defined]
    for kind, made in (("AutoTokenizer", tokenizer), ("AutoModelForCausalLM", make("GPT2LMHeadModel"))):
        monkeypatch.setattr(getattr(transformers, kind), "from_pretrained", lambda *_, made=made, **__: made)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert (tmp_path / "layer2.pdf").read_bytes().startswith(b"%PDF")
    assert b"<title>The old dog sleeps." in (tmp_path / "gpt2.html").read_bytes()


def test_transformers_is_not_imported() -> None:
    import subprocess
    import sys

    code = (
        "import sys, numpy as np, types; from transformer_core import AttentionMaps;"
        "AttentionMaps.from_transformers(types.SimpleNamespace(attentions=[np.ones((1, 1, 1, 1))]), ['a']);"
        "print(sorted({'transformers', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert foreign_attention.MAX_BYTES == 2**30
