"""Python names that README and docs showed before: they work, and warn."""

from __future__ import annotations

import importlib

import pytest

from tests.core.tiny import tiny_model
from transformer_core import renamed
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.translator import Translator

# Every import line of the former README and docs, and where each name is today.
FORMER = {
    "analysis.atlas.measures": {"measures": "atlas.measures.measures"},
    "analysis.atlas.naming": {"head_roles": "atlas.naming.head_roles"},
    "analysis.atlas.storage": {"load_atlas": "atlas.storage.load_atlas"},
    "analysis.forced_run": {"forced_run": "analysis.teacher_forced_run.teacher_forced_run"},
    "analysis.head_effects": {"head_effects": "analysis.effects.head_effects.head_effects"},
    "analysis.head_faithfulness": {"head_faithfulness": "analysis.effects.cumulative_ablation.head_faithfulness"},
    "analysis.part_effects": {"part_effects": "analysis.effects.part_effects.part_effects"},
    "analysis.redirect": {
        "Redirect": "analysis.attention_override.AttentionOverride",
        "even": "analysis.attention_override.uniform_row",
        "redirect": "analysis.attention_override.override_attention",
        "write_on": "analysis.attention_override.continue_decoding",
    },
    "analysis.score_parts": {
        "POINTS": "analysis.score_decomposition.POINTS",
        "neuron_view": "analysis.score_decomposition.neuron_view",
        "score_parts": "analysis.score_decomposition.decompose_score",
    },
    "analysis.staircase": {"staircase": "analysis.effects.cumulative_ablation.cumulative_ablation"},
    "edits": {
        "ablate_heads": "hooks.edits.ablate_heads",
        "knock_out": "hooks.edits.knock_out",
        "mean_head_outputs": "hooks.edits.mean_head_outputs",
    },
    "hook_list": {"describe_hook_points": "hooks.hook_list.describe_hook_points"},
    "model": {"Transformer": "model.transformer.Transformer"},
    "presets": {"preset": "paper.presets.preset"},
}
UNCHANGED = {
    "analysis.attribution": ("agreement", "attribute", "faithfulness"),
    "analysis.lens": ("decoder_lens", "logit_lens"),
    "analysis.patching": ("patching", "translate_patched"),
    "data": ("Corpus",),
    "hooks": ("Site", "capture", "edit", "hook_points"),
    "training.trainer": ("Trainer",),
    "training.validation": ("ValidationSet",),
    "translator": ("Translator",),
}


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in FORMER.items() for name in names])
def test_a_former_name_is_the_current_one_and_warns(module: str, name: str) -> None:
    home, _, current = f"transformer_core.{FORMER[module][name]}".rpartition(".")
    with pytest.warns(DeprecationWarning, match=rf"transformer_core\.{module}\.{name} is now {home}\.{current}"):
        found = getattr(importlib.import_module(f"transformer_core.{module}"), name)
    assert found is getattr(importlib.import_module(home), current)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("module", UNCHANGED)
def test_other_names_of_the_former_docs_are_where_they_were(module: str) -> None:
    assert all(hasattr(importlib.import_module(f"transformer_core.{module}"), name) for name in UNCHANGED[module])


def test_what_never_was_is_not_found() -> None:
    for module in ("edits.nothing", "analysis.atlas.nothing", "model.nothing", "nothing"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"transformer_core.{module}")
    for line in ("from transformer_core.edits import nothing", "from transformer_core.model import nothing"):
        with pytest.raises(ImportError):
            exec(line)


def test_former_attributes_are_the_current_ones_and_warn(tokenizer: Tokenizer) -> None:
    translator = Translator(tiny_model(vocab_size=len(tokenizer)), tokenizer)
    translation = translator.translate("A child sees a house.")
    run = teacher_forced_run(translator, translation.source, translation)
    forced = translator.teacher_force("A child.", "Ein Kind.")
    for owner, former, current in (
        (translation, "pieces", "tokens"),
        (translation.source_encoding, "pieces", "tokens"),
        (forced, "pieces", "tokens"),
        (run, "pieces", "tokens"),
        (run, "source_pieces", "source_tokens"),
        (translator, "force", "teacher_force"),
        (translator, "max_pieces", "max_tokens"),
    ):
        kind = type(owner).__name__
        with pytest.warns(DeprecationWarning, match=f"{kind}.{former} is now {kind}.{current}"):
            assert getattr(owner, former) == getattr(owner, current)


def test_former_keys() -> None:
    assert renamed.current_names({"target_pieces": 1, "careless_share": 0.1, "x": 2}) == {
        "target_tokens": 1,
        "typo_rate": 0.1,
        "x": 2,
    }
