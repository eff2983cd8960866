"""The lesson on the whole way: its numbers are the model's, and both languages of the code agree on how they travel."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tests.app.lessons.conftest import Visit
from transformer_core.analysis.activations import Activation, record_activations
from transformer_core.config import ModelConfig
from transformer_core.data import make_batch
from transformer_core.model.positions import sinusoidal_positions
from transformer_core.model.transformer import Transformer
from transformer_core.paper.presets import PRESETS
from transformer_core.translator import Translator
from viz_app.lessons import load_lesson
from viz_app.lessons import stage as component
from viz_app.lessons.architecture import forward_steps
from viz_app.lessons.architecture import numbers as architecture
from viz_app.lessons.architecture.forward_steps import nearest
from viz_app.lessons.context import LessonContext, StageData
from viz_app.serving.models.registry import DEFAULT_CHECKPOINT

SCRIPTS = Path(component.__file__).parents[1] / "architecture" / "js"
SENTENCE = "The dog is fast."
LONG = "We know that the woman who lives next door is a doctor and that her friends have not seen the new house."


@pytest.fixture(scope="module")
def context(visit: Visit) -> LessonContext:
    return visit("flow", SENTENCE)


@pytest.fixture(scope="module")
def data(context: LessonContext) -> StageData:
    return architecture.data(context)


@pytest.fixture(scope="module")
def truth(context: LessonContext) -> tuple[Activation, ...]:
    """Values at each station, recorded by the core."""
    source, target = architecture._ids(context)
    translator = context.service.translator
    batch = make_batch([source], [list(target)], translator.tokenizer.special)
    return record_activations(translator.model, batch.source, batch.inputs[:, : len(context.result.maps.inputs)])


def test_what_the_stations_tell_is_what_passed_there(
    context: LessonContext, data: StageData, truth: tuple[Activation, ...]
) -> None:
    maps = context.result.maps
    assert len(data.values["stations"]) == len(truth)
    for number, (station_values, station) in enumerate(zip(data.values["stations"], truth, strict=True)):
        assert (station_values["side"], station_values["name"], station_values["layer"]) == (
            station.side,
            station.name,
            station.layer,
        )
        assert station_values["shape"] == list(station.values.shape)
        assert station_values["norm"] == pytest.approx(float(station.values.norm(dim=1).mean()), abs=1e-3)
        shown = station.values[: architecture.POSITIONS]
        stats = data.arrays["stats"][number, : len(shown)]
        np.testing.assert_allclose(stats[:, 0], shown.mean(dim=1), atol=1e-5)
        np.testing.assert_allclose(stats[:, 1], shown.numpy().std(axis=1), atol=1e-4)
        if station.name != "linear":
            bytes_ = data.arrays["tensors"][number, : len(shown)].astype(float)
            limit = forward_steps.LIMIT
            error = np.abs((bytes_ - 128) / 127 * limit - shown.clamp(-limit, limit).numpy())
            assert error.max() <= limit / 127 / 2 + 1e-5
    assert data.values["tokens"]["encoder"] == list(maps.source.tokens[: architecture.POSITIONS])
    json.dumps(data.values, allow_nan=False)


def test_sums_and_cosines_follow_from_the_stations(data: StageData, truth: tuple[Activation, ...]) -> None:
    """By numpy, from the vectors before and behind every Add & Norm."""
    norms = [number for number, station in enumerate(truth) if station.name == "add_norm"]
    assert len(norms) == len(data.arrays["cosines"]) == len(data.arrays["sums"])
    starts = {station.side: station.values.double().numpy() for station in truth if station.name == "positions"}
    for row, number in enumerate(norms):
        x, sublayer, after = (truth[number - back].values.double().numpy() for back in (2, 1, 0))
        count = min(len(x), architecture.POSITIONS)
        lengths = np.sqrt(((x + sublayer) ** 2).sum(axis=1))[:count]
        np.testing.assert_allclose(data.arrays["sums"][row, :count, 2], lengths, rtol=1e-5)
        for column, before in enumerate((x, starts[truth[number].side])):
            products = (before * after).sum(axis=1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
            np.testing.assert_allclose(data.arrays["cosines"][row, :count, column], products[:count], atol=1e-5)


def test_inner_values_are_on_or_off_as_the_network_says(
    translator: Translator, data: StageData, truth: tuple[Activation, ...]
) -> None:
    networks = [number for number, station in enumerate(truth) if station.name == "feed_forward"]
    for row, number in enumerate(networks):
        station = truth[number]
        module = translator.model.get_submodule(f"{station.side}.layers.{station.layer}.feed_forward")
        x = truth[number - 1].values[: architecture.POSITIONS]
        inner = torch.relu(F.linear(x, module.w_1.weight, module.w_1.bias)).detach()  # type: ignore[union-attr,arg-type]
        on = inner > 1e-5  # what is nearly 0 may be on or off
        assert (data.arrays["inner"][row, : len(x)][on.numpy()] > 0).all()
        np.testing.assert_allclose(data.arrays["active"][row, : len(x)], (inner > 0).float().mean(dim=1), atol=0.02)
    assert 0 <= data.values["order_error"] < 1e-4


def test_a_token_is_carried_past_the_others() -> None:
    assert forward_steps.moved_order(4, 2).tolist() == [1, 2, 0, 3]


def test_the_order_error_would_see_a_network_that_looks_around(translator: Translator) -> None:
    """A feed-forward network that mixes its positions is caught."""
    model = translator.model
    ids = torch.tensor([[5, 9, 11, 2]])
    result = record_activations(model, ids, ids)
    station = next(each for each in result if each.name == "feed_forward")
    assert forward_steps._order_error(model, result, station, 16) < 1e-4
    module = model.get_submodule("encoder.layers.0.feed_forward")
    handle = module.register_forward_hook(lambda _module, _args, out: out + out.cumsum(dim=-2))
    try:
        assert forward_steps._order_error(model, result, station, 16) > 1e-2
    finally:
        handle.remove()


def test_one_pass_gives_what_steps_give(context: LessonContext, data: StageData) -> None:
    translation = context.result.translation
    count = len(data.values["outputs"])
    # The search has scored every token of its translation step by step.
    np.testing.assert_allclose(data.arrays["once"], translation.scores[:count], atol=1e-4)
    for name in ("stepwise", "again"):
        np.testing.assert_allclose(data.arrays[name], data.arrays["once"], atol=1e-4)
    assert 0 < data.values["step_error"] < 1e-3
    for row in data.values["likely"]:
        probabilities = [probability for _, probability, *_ in row]
        assert probabilities == sorted(probabilities, reverse=True) and sum(probabilities) <= 1 + 1e-5
        assert (
            len({round(logit - np.log(probability), 2) for _, probability, logit, _ in row if probability > 0.01}) < 2
        )


def test_neighbours_against_brute_force(context: LessonContext, data: StageData) -> None:
    translator = context.service.translator
    matrix = translator.model.embedding.weight.detach().double().numpy()
    rows = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    ids = data.values["ids"]["encoder"]
    for number, token in enumerate(ids):
        cosines = rows @ rows[token]
        cosines[token] = -1
        best = np.sort(cosines)[::-1][: forward_steps.NEIGHBOURS]
        neighbours = data.values["shared"]["neighbours"][number]
        np.testing.assert_allclose([cosine for _, cosine, _ in neighbours], best, atol=1e-4)
        np.testing.assert_allclose([cosines[other] for _, _, other in neighbours], best, atol=1e-6)
    np.testing.assert_allclose(data.values["shared"]["row_norms"], np.linalg.norm(matrix[list(ids)], axis=1), atol=1e-4)
    # A sine and a cosine of one angle: their squares add up to 1, d_model / 2 times.
    half = translator.config.d_model / 2
    np.testing.assert_allclose(data.values["shared"]["position_norms"], half**0.5, atol=1e-3)
    alone = np.sort((rows @ rows.T) - 3 * np.eye(len(rows)), axis=1)[:, -1]
    assert np.quantile(alone, 0.3) < data.values["shared"]["usual"] < np.quantile(alone, 0.7)


def counted(config: ModelConfig) -> dict[str, int]:
    """Numbers of each part, by the names of the weights of a model without memory behind them."""
    with torch.device("meta"):
        model = Transformer(config)
    result = dict.fromkeys(("attention", "feed_forward", "matrix", "norms"), 0)
    marks = {"norm": "norms", "feed_forward": "feed_forward", "attention": "attention", "": "matrix"}
    for name, parameter in model.named_parameters():
        result[next(part for mark, part in marks.items() if mark in name)] += parameter.numel()
    return result


def test_parts_hold_what_the_models_hold(data: StageData, translator: Translator) -> None:
    configs = {"this": translator.config, "base": PRESETS["base"].model, "big": PRESETS["big"].model}
    for name, config in configs.items():
        parts = data.values["parts"][name]
        assert {part: numbers for part, (numbers, _, _) in parts.items()} == counted(config)
        assert [parts[part][2] for part in ("attention", "feed_forward", "matrix", "norms")] == [
            times * config.num_layers if times else 1 for times in (3, 2, 0, 5)
        ]


@pytest.mark.skipif(not DEFAULT_CHECKPOINT.exists(), reason="the shipped model is not here")
def test_the_answer_is_right_for_the_shipped_model_and_the_papers(language: str) -> None:
    shipped = ModelConfig.from_dict(json.loads((DEFAULT_CHECKPOINT / "config.json").read_text("utf-8"))["model"])
    for config in (shipped, PRESETS["base"].model, PRESETS["big"].model):
        parts = counted(config)
        assert max(parts, key=lambda part: parts[part]) == "feed_forward"
        assert 0.38 < parts["feed_forward"] / sum(parts.values()) < 0.5, "about two fifths"
    question = load_lesson("architecture", language).scenes[-1].question
    assert question is not None
    assert [choice.right for choice in question.choices] == [False, True, False, False]


@pytest.mark.skipif(not DEFAULT_CHECKPOINT.exists(), reason="the shipped models are not here")
@pytest.mark.parametrize("name", ["en-de", "en-fr", "en-fr-small"])
def test_what_is_said_of_the_shipped_matrices(name: str) -> None:
    """Rows are about 1.1 long, less than a position, until they are scaled; forms of one word lie near each other."""
    translator = Translator.load(DEFAULT_CHECKPOINT.with_name(name))
    matrix, tokenizer = translator.model.embedding.weight.detach(), translator.tokenizer
    width = matrix.shape[1]
    row, position = float(matrix.norm(dim=1).mean()), float(sinusoidal_positions(50, width).norm(dim=1).mean())
    assert position == pytest.approx((width / 2) ** 0.5)
    assert row == pytest.approx(1.1, abs=0.05) and row < position < row * width**0.5
    tokens = [tokenizer.token(number) for number in range(len(matrix))]
    words = [number for number, token in enumerate(tokens) if re.fullmatch("▁[a-zäöüß]{4,}", token)]

    def alike(one: int, other: int) -> bool:
        return tokens[one][:4] == tokens[other][:4]  # the mark of a word's start and three letters

    near = [alike(word, result[0][0]) for word, result in zip(words, nearest(matrix, words, 1), strict=True)]
    order = np.random.default_rng(1).permutation(len(words))
    chance = [alike(words[one], words[other]) for one, other in enumerate(order) if one != other]
    assert np.mean(near) > 10 * np.mean(chance) and 0.1 < np.mean(near) < 0.5


def test_a_long_sentence_is_cut_for_the_pictures_only(visit: Visit) -> None:
    context = visit("flow", LONG)
    numbers = architecture.data(context)
    assert len(context.result.maps.source) > architecture.POSITIONS
    assert len(numbers.values["tokens"]["encoder"]) == len(numbers.values["ids"]["encoder"]) == architecture.POSITIONS
    assert numbers.values["lengths"]["encoder"] == len(context.result.maps.source)
    assert numbers.values["stations"][0]["shape"][0] == len(context.result.maps.source)
    size = sum(array.nbytes for array in numbers.arrays.values()) + len(json.dumps(numbers.values))
    assert size < 600_000


def test_the_browser_takes_the_stations_in_the_papers_order(data: StageData, javascript: Callable[[str], Any]) -> None:
    parts = (SCRIPTS / "parts.js").read_text(encoding="utf-8")
    assert f"const LIMIT = {forward_steps.LIMIT:g};" in parts, "as bytes are packed, so they are read"
    result = javascript(
        'import { boxOf, placesOf, routeOf } from "./lessons/architecture/js/route.js";\n'
        f"const route = routeOf({json.dumps(data.values)});\n"
        "const { boxes } = placesOf({ x: 0, y: 0, width: 400, height: 450 });\n"
        "console.log(JSON.stringify({ names: route.map(boxOf), boxes }));\n"
    )
    station_values = data.values["stations"]
    assert len(result["names"]) == len(station_values) + 3, "ids on both sides, and softmax"
    assert result["names"][:4] == ["encoder ids", "encoder embedding", "encoder positions", "encoder self_attention"]
    assert result["names"][-2:] == ["decoder linear", "decoder softmax"]
    assert set(result["names"]) == set(result["boxes"]), "every station has its box, every box its station"
    column = [box for name, box in result["boxes"].items() if name.startswith("decoder")]
    edges = sorted((box["y"], box["y"] + box["height"]) for box in column)
    assert all(low < next_high for (_, low), (next_high, _) in itertools.pairwise(edges)), "no two overlap"
    assert edges[0][0] >= 0


def test_after_a_wrong_token_the_model_goes_on_from_its_own(visit: Visit, translator: Translator) -> None:
    """Each row is the second choice of one position, then what greedy steps of torch's argmax would generate."""
    context = visit("mistake", SENTENCE)
    result = architecture.data(context).values["mistakes"]
    translation, special = context.result.translation, translator.tokenizer.special
    source, target = translation.source_encoding.ids, list(translation.hypotheses[0].ids)
    assert len(result) == min(len(target), architecture.POSITIONS)
    assert architecture.data(visit("flow", SENTENCE)).values["mistakes"] is None, "only where it is shown"
    for place, row in enumerate(result[:3]):
        encoded = make_batch([source], [[]], special).source
        ids, probabilities = [special.bos], []
        while len(ids) - 1 < len(row["tokens"]):
            with torch.no_grad():
                chances = translator.model(encoded, torch.tensor([ids]), None)[0, -1].softmax(-1)
            step = len(ids) - 1
            if step < place:
                token = target[step]
            elif step == place:
                barred = {target[place], special.pad, special.bos, special.eos, special.unk}
                token = next(int(each) for each in chances.argsort(descending=True) if int(each) not in barred)
            else:
                chances[[special.pad, special.bos]] = 0
                token = int(chances.argmax())
            probabilities.append(float(chances[token]))
            ids.append(token)
        names = ["</s>" if token == special.eos else translator.tokenizer.token(token) for token in ids[1:]]
        assert row["tokens"] == names, place
        assert row["probabilities"][: len(names)] == pytest.approx(probabilities, abs=1e-3)


def test_the_halves_are_the_matrices_of_the_layers(data: StageData, translator: Translator) -> None:
    halves, parameters = data.values["halves"], dict(translator.model.named_parameters())
    matrices = {name: each.numel() for name, each in parameters.items() if "norm" not in name}
    for side in ("encoder", "decoder"):
        own = sum(size for name, size in matrices.items() if name.startswith(f"{side}.layers") and "cross" not in name)
        assert halves[side] == own
    assert halves["cross"] == sum(size for name, size in matrices.items() if "cross" in name)
