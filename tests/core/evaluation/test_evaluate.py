"""Many lines at once against one at a time; scores against sacreBLEU called directly; test sets of all forms."""

from __future__ import annotations

import lzma
import math
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from tests.core.tiny import sentence_pairs, tiny_model
from tests.hostile import LONE, ODD, STRINGS
from transformer_core import DecodingConfig, Tokenizer, Translator
from transformer_core.data import DataError
from transformer_core.evaluation.evaluate import TestSet, batches_by_length, evaluate, perplexity, translate_lines


@pytest.fixture(scope="module")
def translator(tokenizer: Tokenizer) -> Translator:
    decoding = DecodingConfig(beam=2, extra_length=3, max_source_tokens=60)
    return Translator(tiny_model(vocab_size=len(tokenizer)), tokenizer, decoding)


def test_lines_come_back_in_order_and_as_if_translated_alone(translator: Translator) -> None:
    lines = [source for source, _ in sentence_pairs()[:13]]
    told: list[int] = []
    results = translate_lines(translator, lines, batch=4, on_progress=told.append)
    assert [result.text for result in results] == [translator.translate(line).text for line in lines]
    assert {result.problem for result in results} == {""}
    assert sum(told) == len(lines)


def test_options_reach_the_search(translator: Translator) -> None:
    lines = [source for source, _ in sentence_pairs()[:3]]
    results = translate_lines(translator, lines, beam=1, alpha=0.0)
    assert [result.text for result in results] == [translator.translate(line, beam=1, alpha=0.0).text for line in lines]


def test_nothing_that_a_line_holds_loses_a_line(translator: Translator) -> None:
    lines = ["", " \t ", LONE, "long " * 200, "😀", *STRINGS, *ODD]
    results = translate_lines(translator, lines)
    assert len(results) == len(lines)
    assert all(len(result.text.splitlines()) <= 1 for result in results)
    assert results[0].text == results[1].text == ""
    assert "surrogates" in results[2].problem
    assert results[3].text == ""
    assert results[3].problem.startswith("not translated: the source has ")
    assert "at most 60 are allowed" in results[3].problem
    assert results[4].problem == "not in the vocabulary, read as <unk>: '😀'"


@given(st.lists(st.integers(0, 2_000), max_size=60), st.integers(1, 9))
def test_every_line_is_in_one_batch_and_batches_stay_small(lengths: list[int], batch: int) -> None:
    batches = batches_by_length(dict(enumerate(lengths)), batch)
    assert sorted(number for numbers in batches for number in numbers) == list(range(len(lengths)))
    for numbers in batches:
        longest = max(lengths[number] for number in numbers) + 1
        assert 1 <= len(numbers) <= batch
        assert len(numbers) == 1 or len(numbers) * longest <= batch * 128
    in_order = [lengths[number] for numbers in batches for number in numbers]
    assert in_order == sorted(lengths, reverse=True)


def test_sentences_may_have_different_numbers_of_references(translator: Translator) -> None:
    pairs = sentence_pairs()[:4]
    references = (("eins",), ("zwei", "drei"), ("vier",), ("fünf", "sechs"))
    result = evaluate(translator, TestSet(tuple(source for source, _ in pairs), references))
    assert result.bleu.signature.startswith("nrefs:var|")
    # A reference that is there twice changes nothing, so this is the same score.
    doubled = [[each[0] for each in references], [each[-1] for each in references]]
    texts = [line.text for line in result.lines]
    assert result.chrf.value == pytest.approx(sacrebleu.corpus_chrf(texts, doubled).score)


def test_perplexity_is_that_of_forced_passes_one_by_one(translator: Translator) -> None:
    pairs = [*sentence_pairs()[:7], ("", "Nein."), ("Ja.", "")]
    logs = [log for source, target in pairs for log in translator.teacher_force(source, target).scores]
    result = perplexity(translator, [*pairs, ("long " * 200, "x"), ("x", "long " * 200)], batch=3)
    assert result.value == pytest.approx(math.exp(-sum(logs) / len(logs)), rel=1e-4)
    assert (result.tokens, result.left_out) == (len(logs), 2)
    characters = len("".join(target for _, target in pairs))
    assert result.nats_per_character == pytest.approx(-sum(logs) / characters, rel=1e-4)
    nothing = perplexity(translator, [])
    assert math.isnan(nothing.value) and math.isnan(nothing.nats_per_character)
    silence = perplexity(translator, [("Ja.", "")])
    assert silence.tokens == 1 and math.isnan(silence.nats_per_character), "</s> alone has no character"


def test_reading_columns(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv.xz"
    path.write_bytes(lzma.compress(b"a\tb\tc\td\ne\tf\t\n"))
    assert TestSet.read(path) == TestSet(("a", "e"), (("b",), ("f",)))
    assert TestSet.read(path, references=None) == TestSet(("a", "e"), (("b", "c", "d"), ("f",)))
    assert TestSet.read(path, references=2).references == (("b", "c"), ("f",))
    assert TestSet.read(path, target_column=2).references == (("c",), ("",))
    with pytest.raises(DataError, match="line 2: no reference from column 2 on"):
        TestSet.read(path, target_column=2, references=None)
    with pytest.raises(DataError, match="line 2: 3 columns, but at least 4"):
        TestSet.read(path, target_column=3)


def test_an_empty_test_set_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="has no sentences"):
        TestSet.read(tmp_path / "empty.tsv")


def test_lines_whose_reference_was_trained_on_are_left_out(tmp_path: Path) -> None:
    test = TestSet(("a", "b", "c", "d"), (("Ja.",), ("Nein.", "Nee."), ("ja.",), ("Doch.",)))
    (tmp_path / "one.tsv").write_text("x\tJa.\ny\tNee.\n", encoding="utf-8")
    (tmp_path / "two.tsv").write_text("Doch.\tz\n", encoding="utf-8")  # as a source it does not count
    training = [tmp_path / "one.tsv", tmp_path / "two.tsv"]
    assert test.unseen(training) == TestSet(("c", "d"), (("ja.",), ("Doch.",)))
    (tmp_path / "two.tsv").write_text("z\tDoch.\nz\tja.\n", encoding="utf-8")
    with pytest.raises(DataError, match="all references"):
        test.unseen(training)
