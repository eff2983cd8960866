"""Writes the numbers of *Try this* anew: `python -m tests.app.components.try_this_numbers`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from transformer_core.analysis.attention_override import AttentionOverride, override_attention
from transformer_core.analysis.lens import logit_lens
from transformer_core.analysis.patching import patching
from transformer_core.history.snapshots import History, history_folder
from transformer_core.storage.bundled_models import SHIPPED
from transformer_core.translator import Translator
from viz_app.components.try_this.thumbnails import NUMBERS, SENTENCE
from viz_app.lessons.small_models import training_curves

_HEAD, _QUERY, _KEY = "cross.6.3", 0, 4  # the first article looks at the noun "cat"
_READ = "A man rides a bicycle."
_STEPS = (0, 606, 2523, 7400)
_SENTENCE, _GROWN = 6, (5, 4)  # "My brother can swim well.", the head that aligns best after the training
_RUNS = ("base", "no-mask", "no-residual", "no-warmup")
_POINTS = np.geomspace(30, 3000, 20)  # steps


def numbers() -> dict[str, Any]:
    """Compute all numbers anew."""
    german, french = Translator.load(SHIPPED / "en-de"), Translator.load(SHIPPED / "en-fr-small")
    return {
        "redirect": _redirect(german),
        "when": _when(german),
        "plural": _plural(german),
        "game": _game(),
        "growth": _growth(),
        "file": _file(french),
    }


def _redirect(translator: Translator) -> dict[str, Any]:
    translation = translator.translate(SENTENCE)
    maps = translation.attention
    layer, head = (int(part) - 1 for part in _HEAD.split(".")[1:])
    row = maps.cross[layer, head, _QUERY]
    aside = tuple(float(position == _KEY) for position in range(len(row)))
    change = AttentionOverride(_HEAD, _QUERY, aside)
    run = override_attention(translator, SENTENCE, [change], translation)
    tops = [each[_QUERY].exp().max(dim=0) for each in (run.before, run.after)]
    return {
        "source": _words(maps.source.tokens[:-1]),
        "before": _rounded(row[:-1]),
        "after": _rounded(aside[:-1]),
        "tokens": _words(translator.tokenizer.tokens([int(top.indices) for top in tops])),
        "p": _rounded([float(top.values) for top in tops]),
    }


def _when(translator: Translator) -> dict[str, Any]:
    lens = logit_lens(translator, _READ)
    return {"tokens": _words(lens.run.tokens[:-1]), "p": _rounded(lens.log_p.exp().numpy()[:, :-1])}


def _plural(translator: Translator) -> dict[str, Any]:
    patched = patching(translator, "The dog is sleeping.", "The dogs are sleeping.", site="heads", direction="denoise")
    return {"recovered": _rounded(patched.recovered.numpy())}


def _game() -> dict[str, Any]:
    curves = training_curves()
    loss = {name: np.interp(_POINTS, curves[name].step, curves[name].mean_nll) for name in _RUNS}
    return {"loss": {name: _rounded(values) for name, values in loss.items()}}


def _growth() -> dict[str, Any]:
    folder = history_folder(SHIPPED / "en-fr-small")
    assert folder is not None
    history = History.load(folder)
    maps = history.sentences[_SENTENCE]
    at = [history.steps.index(step) for step in _STEPS]
    layer, head = _GROWN
    return {"steps": _STEPS, "maps": _rounded([maps.maps(number).cross[layer, head] for number in at])}


def _file(translator: Translator) -> dict[str, Any]:
    maps = translator.translate(SENTENCE).attention
    strongest = [maps.weights(kind).max(axis=-1).mean(axis=-1) for kind in ("encoder", "decoder", "cross")]
    return {"focus": _rounded(strongest)}


def _words(tokens: Any) -> list[str]:
    return [token.strip("\u2581") for token in tokens]


def _rounded(values: Any) -> Any:
    return np.round(np.asarray(values, dtype=np.float64), 2).tolist()


def main() -> None:
    """Write the file."""
    NUMBERS.write_text(json.dumps(numbers(), ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
