"""Runs: each sentence as if it were alone, labelled, with nothing kept but what was asked for."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import transformer_core as tc
from tests.core.tiny import sentence_pairs
from transformer_core.attention_maps import KINDS
from transformer_core.hooks.points import hook_points
from transformer_core.hooks.short_addresses import AddressError
from transformer_core.runs import Run, run
from transformer_core.storage.bundled_models import SHIPPED
from transformer_core.translator import TeacherForcedInput, Translator

PAIRS = sentence_pairs()[::45]
TEXT = "The teacher doesn't like two well-known books."
NATIVE = "decoder.layers.1.cross_attention.weights"


@pytest.fixture(params=["in one pass", "a few at a time"])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "a few at a time":
        monkeypatch.setattr("transformer_core.translator._MAX_PASS_BYTES", 60_000)
    return str(request.param)


def native(translator: Translator, source: str, target: str, address: str) -> Tensor:
    """The value that a hook of PyTorch sees while one sentence is read."""
    seen: list[Tensor] = []
    handle = hook_points(translator.model)[address].register_forward_hook(lambda *given: seen.append(given[-1].clone()))
    translator.score([(source, target)])
    handle.remove()
    return seen[-1][0]


def test_each_pair_is_as_if_alone(learned: Translator, memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []
    read = Translator.read

    def counted(self: Translator, pairs: Sequence[TeacherForcedInput]) -> Tensor:
        passes.append(len(pairs))
        return read(self, pairs)

    monkeypatch.setattr(Translator, "read", counted)
    result = run(learned, PAIRS, keep="all")
    small = max(passes) < len(PAIRS)
    assert sum(passes) == len(PAIRS) and small == (memory == "a few at a time")
    for number, (source, target) in enumerate(PAIRS):
        one, alone = result[number], learned.teacher_force(source, target)
        np.testing.assert_allclose(one.log_p.numpy(), alone.scores, atol=1e-4)
        assert one.log_p.labels[0][0] == alone.attention.outputs
        for kind in KINDS:
            for layer in (1, 2):
                for head in (1, 4):
                    values = one[f"{kind}.{layer}.{head}"]
                    np.testing.assert_allclose(
                        values.numpy(), alone.attention.weights(kind)[layer - 1, head - 1], atol=1e-5
                    )
                    assert values.labels[0] == (alone.attention.queries(kind), alone.attention.keys(kind))
    source, target = PAIRS[3]
    for address in hook_points(learned.model):
        torch.testing.assert_close(
            result[3][address].tensor, native(learned, source, target, address), atol=1e-4, rtol=1e-4
        )


def test_a_run_lists_what_it_kept_and_can_be_sliced(learned: Translator) -> None:
    result = run(learned, PAIRS, keep="cross.2.3")
    assert result.keys() == [NATIVE] and "cross.2.3" in result and "cross.1.3" not in result and 3 not in result
    part = result[1:3]
    assert [each.text for each in part.sentences] == [source for source, _ in PAIRS[1:3]] and part.several
    assert torch.equal(part["cross.2"].tensors[1], result["cross.2"].tensors[2])
    with pytest.raises(ValueError, match=f"has {len(PAIRS)} sentences: take one"):
        _ = result["cross.2.3"].tensor


def test_axes_have_names_and_tokens(learned: Translator) -> None:
    source, target = PAIRS[0]
    result = run(learned, (source, target), keep="all")
    maps = learned.teacher_force(source, target).attention
    expected = {
        "cross.2": (("heads", "queries", "keys"), (None, maps.outputs, maps.source)),
        "cross.2.3": (("queries", "keys"), (maps.outputs, maps.source)),
        "decoder.2.3.keys": (("keys", "d_k"), (maps.inputs, None)),
        "cross.2.values": (("heads", "keys", "d_v"), (None, maps.source, None)),
        "encoder.1.activations": (("positions", "d_ff"), (maps.source, None)),
        "decoder.1.residual": (("positions", "d_model"), (maps.inputs, None)),
        "decoder.logits": (("positions", "vocab_size"), (maps.outputs, None)),
    }
    for address, (axes, labels) in expected.items():
        assert (result[address].axes, result[address].labels[0]) == (axes, labels)
        assert result[address].tensor.shape == tuple(
            size if label is None else len(label)
            for size, label in zip(result[address].tensor.shape, labels, strict=True)
        )
    assert result["cross.2.3"].name == "cross.2.3.weights"


def test_nothing_is_kept_but_what_is_asked_for(learned: Translator) -> None:
    assert run(learned, PAIRS[0]).captured.calls == {}
    result = run(learned, PAIRS, keep=["cross.2.3", "encoder.1.residual"])
    assert set(result.captured) == {NATIVE, "encoder.layers.0.feed_forward_add_norm.residual"}
    for value in result.captured.calls[NATIVE]:  # nor the padded batch that it was cut from
        assert value.untyped_storage().nbytes() == value.numel() * 4
        assert not value.requires_grad
    with pytest.raises(AddressError, match=r"nothing was captured at cross.2.3.scores; did you mean"):
        result["cross.2.3.scores"]
    with pytest.raises(AddressError, match=r"did you mean cross.2.4\?"):
        run(learned, PAIRS, keep="cross.2.5")
    for which in (("cross.2.3", slice(0, 2)), {"cross.2.3"}):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            result[which]  # type: ignore[call-overload]
    assert len(result) == len(list(result)) == len(PAIRS)
    assert result[np.int64(2)].sentences == result[2].sentences == (result.sentences[2],)


def test_a_text_is_translated_and_then_read(learned: Translator) -> None:
    result, translation = run(learned, TEXT, keep="cross.1.1"), learned.translate(TEXT)
    (sentence,) = result.sentences
    assert (sentence.text, sentence.translation) == (TEXT, translation.text)
    np.testing.assert_allclose(result.log_p.numpy(), translation.scores, atol=1e-4)
    np.testing.assert_allclose(result["cross.1.1"].numpy(), translation.attention.cross[0, 0], atol=1e-5)


def test_spans_are_characters_of_the_texts(learned: Translator) -> None:
    """Of a given translation as it was given, with its blanks and composed letters; of another as it was decoded."""
    given = run(learned, [("The  big dog 🙂 sees.", "Der  gro\u00dfe Hu\u0308nd."), TEXT]).sentences
    assert given[0].translation == "Der  gro\u00dfe Hu\u0308nd."
    for sentence in given:
        for axis, text in ((sentence.source, sentence.text), (sentence.outputs, sentence.translation)):
            words = ["".join(text[begin:end].split()) for begin, end in axis.merged().spans]
            assert "".join(words) == "".join(text.split()) and words[-1] == ""
            assert all(text[begin:end] == text[begin:end].strip() for begin, end in axis.spans)
        assert sentence.inputs.spans == ((0, 0), *sentence.outputs.spans[:-1])


def test_a_stream_is_the_runs_of_its_parts_and_reads_no_further(learned: Translator) -> None:
    read: list[int] = []

    def sentences() -> Iterator[tuple[str, str]]:
        for number, pair in enumerate(PAIRS):
            read.append(number)
            yield pair

    runs, whole = (
        tc.stream(learned, sentences(), keep="encoder.2.residual", together=2),
        run(learned, PAIRS, keep="encoder.2.residual"),
    )
    first = next(runs)
    assert len(first) == 2 and read == [0, 1]
    every = [one for each in (first, *runs) for one in each]
    assert [one.sentences[0][:5] for one in every] == [one.sentences[0][:5] for one in whole]
    for one, other in zip(every, whole, strict=True):
        torch.testing.assert_close(one["encoder.2.residual"].tensor, other["encoder.2.residual"].tensor)


def test_a_stream_holds_one_run_at_a_time(learned: Translator) -> None:
    """Counted by weak references: once the next one is there, nothing of the last is."""
    kept: list[weakref.ref[torch.Tensor]] = []
    for each in tc.stream(learned, iter([*PAIRS] * 4), keep="encoder.2.residual", together=len(PAIRS)):
        gc.collect()
        assert not [reference for reference in kept[: -len(PAIRS)] if reference() is not None]
        kept += [weakref.ref(tensor) for tensor in each["encoder.2.residual"].tensors]
    assert len(kept) == 4 * len(PAIRS)


def test_texts_and_pairs_and_edits_while_translating(learned: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the sentences do not fit into one pass, `only` counts them as they were given."""
    monkeypatch.setattr("transformer_core.runs._TRANSLATED_TOGETHER", 2)
    monkeypatch.setattr("transformer_core.translator._MAX_PASS_BYTES", 1)
    given: list[str | tuple[str, str]] = [TEXT, PAIRS[1], *(source for source, _ in PAIRS[2:6])]
    edits = {"cross.2": tc.only(tc.zero, sentences={4}), "encoder.1.2": tc.only(tc.zero, sentences={1})}
    result = run(learned, given, edits=edits)
    plain = run(learned, given)
    for number in range(len(given)):
        if number not in (1, 4):
            assert result.sentences[number].translation == plain.sentences[number].translation
            np.testing.assert_allclose(result[number].log_p.numpy(), plain[number].log_p.numpy(), atol=1e-4)
    with tc.edit(learned, {"cross.2": tc.zero}):
        alone = learned.translate(str(given[4]))
    assert result.sentences[4].translation == alone.text != plain.sentences[4].translation
    np.testing.assert_allclose(result[4].log_p.numpy(), alone.scores, atol=1e-4)
    with tc.edit(learned, {"encoder.1.2": tc.zero}):
        assert result[1].log_p.numpy().sum() == pytest.approx(learned.score([PAIRS[1]])[0], abs=1e-4)


def test_a_translation_that_was_cut_off(learned: Translator) -> None:
    short = Translator(learned.model, learned.tokenizer, learned.decoding.replace(extra_length=1, beam=1))
    with tc.edit(short, "decoder.logits", lambda value, _: value.index_fill(-1, torch.tensor([2]), -9.0)):
        result, translation = run(short, TEXT, keep="decoder.1"), short.translate(TEXT)
        assert not translation.finished
        np.testing.assert_allclose(result.log_p.numpy(), translation.scores, atol=1e-4)
        np.testing.assert_allclose(result["decoder.1"].numpy(), translation.attention.decoder[0], atol=1e-5)
        assert result.log_p.labels[0][0] == translation.attention.outputs


def test_stacked_values_are_nan_where_a_sentence_has_no_token(learned: Translator) -> None:
    result = run(learned, PAIRS, keep="cross.2.3")
    stacked, lengths = result["cross.2.3"].numpy(), [len(each.outputs) for each in result.sentences]
    assert len(set(lengths)) > 1
    assert stacked.shape == (len(PAIRS), max(lengths), max(len(each.source) for each in result.sentences))
    for row, sentence, number in zip(stacked, result.sentences, range(len(PAIRS)), strict=True):
        target, source = len(sentence.outputs), len(sentence.source)
        np.testing.assert_array_equal(row[:target, :source], result[number]["cross.2.3"].numpy())
        assert np.isnan(row[target:]).all() and np.isnan(row[:, source:]).all()
    assert np.isfinite(stacked).sum() == sum(len(each.outputs) * len(each.source) for each in result.sentences)
    assert result.log_p.numpy().shape == (len(PAIRS), max(lengths))


def test_a_frame_has_a_row_for_each_value(learned: Translator) -> None:
    result = run(learned, PAIRS[:3], keep="cross.2.3")
    frame = result["cross.2.3"].to_frame()
    import pandas

    assert isinstance(frame, pandas.DataFrame)
    assert list(frame) == ["sentence", "queries", "queries_token", "keys", "keys_token", "value"]
    for _, row in frame.sample(20, random_state=1).iterrows():
        sentence = result.sentences[row["sentence"]]
        assert row["queries_token"] == sentence.outputs.tokens[row["queries"]]
        assert row["keys_token"] == sentence.source.tokens[row["keys"]]
        assert row["value"] == result[row["sentence"]]["cross.2.3"].numpy()[row["queries"], row["keys"]]
    assert len(frame) == sum(len(each.outputs) * len(each.source) for each in result.sentences)
    scores = result.log_p.to_frame().groupby("sentence")["value"].sum()
    np.testing.assert_allclose(scores, learned.score(PAIRS[:3]), atol=1e-4)


def test_without_pandas_the_error_says_how_to_get_it(learned: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pandas is not installed"):
        run(learned, PAIRS[0]).log_p.to_frame()


def test_gradients_are_those_at_a_hook_of_pytorch(learned: Translator) -> None:
    result = run(learned, PAIRS[:2], keep=["cross.2.3", "encoder.1.residual", "cross.1.scores"], grad=True)
    torch.autograd.backward(result[1].log_p.tensor[2])
    kept: list[Tensor] = []
    handle = hook_points(learned.model)[NATIVE].register_forward_hook(lambda *given: kept.append(given[-1]))
    source, target = learned.encode(PAIRS[1][0]), learned.encode_target(PAIRS[1][1]).ids
    logits = learned.model(torch.tensor([[*source.ids, 2]]), torch.tensor([[1, *target]]), None)
    handle.remove()
    expected = torch.autograd.grad(logits[0].log_softmax(-1)[2, target[2]], kept[0])[0][0, 2]
    torch.testing.assert_close(result.grad[1]["cross.2.3"].tensor, expected, atol=1e-5, rtol=1e-4)
    assert expected.abs().max() > 1e-4
    assert not result.grad[0]["cross.2.3"].tensor.any()  # the other sentence has nothing to do with it
    assert result.grad[1]["encoder.1.residual"].tensor.abs().max() > 0
    learned.model.zero_grad()


def test_it_shows_itself_in_a_few_lines(learned: Translator) -> None:
    result = run(learned, [(f"{source} " * 3, target) for source, target in PAIRS], keep="all")
    for shown in (result, result[0], result["cross.2.3"], result[0]["cross.2.3"], result.log_p, result[0].log_p):
        assert len(repr(shown)) < 600 and repr(shown).count("\n") < 8
    assert "cross.2.3.weights" in repr(result["cross.2.3"])
    assert PAIRS[0][0] in repr(result[0])


@pytest.mark.parametrize("what", [[], "", ["A child.", ""], ("", "Ein Kind."), ("A child.", "Ein Kind.", "Ein Hund.")])
def test_what_cannot_be_read(learned: Translator, what: object) -> None:
    with pytest.raises(ValueError, match=r"no sentence|a pair is \(source, target\), not 3 texts"):
        run(learned, what)  # type: ignore[arg-type]


def test_the_face_of_the_package(random_checkpoint: Path) -> None:
    assert tc.load("en-tree").checkpoint is not None
    assert tc.load(SHIPPED / "en-tree").config == tc.load("en-tree").config
    translator = tc.load(random_checkpoint, "cpu")
    result = tc.run(translator, "The dog sleeps.", keep="cross.2.3", edits={"cross.1.1": tc.zero})
    assert isinstance(result, Run)
    with tc.capture(translator, "cross.2.3") as seen, tc.edit(translator, {"cross.1.1": tc.zero}):
        translator.teacher_force(result.sentences[0].text, result.sentences[0].translation)
    assert seen["cross.2.3"].dim() == 3
    with pytest.raises(tc.CheckpointError, match="en-xx"):
        tc.load("en-xx")
