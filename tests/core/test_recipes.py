"""docs/recipes.md: each recipe runs, is as short as the page says, and gives what plain hooks of torch.nn give."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.core.test_docs import ROOT, blocks, run_python
from transformer_core import Translator, capture, edit, patch
from transformer_core.atlas.examples import probe_sentences

PAGE = ROOT / "docs" / "recipes.md"
TEXT = PAGE.read_text(encoding="utf-8")
RECIPES: dict[str, str] = dict(re.findall(r"^## (.+?)$.*?```python\n(.*?)```", TEXT, re.M | re.S))
ATTENTION = "decoder.layers.5.cross_attention"
HEAD = slice(7 * 32, 8 * 32)  # of the columns that W^O takes


@pytest.fixture(scope="module")
def scope() -> dict[str, Any]:
    return run_python("docs", PAGE.name)


def test_each_recipe_is_as_short_as_its_row_says() -> None:
    rows = re.findall(r"^\| \[(.+?)\]\(#(.+)\) \| (\d) \| (\d|-) \|$", TEXT, re.M)
    assert [name.capitalize() for name, *_ in rows] == list(RECIPES)
    assert [name.replace(" ", "-") for name, *_ in rows] == [link for _, link, *_ in rows]
    assert [int(lines) for _, _, lines, _ in rows] == [len(code.splitlines()) for code in RECIPES.values()]
    assert all(int(ours) <= int(theirs) for _, _, ours, theirs in rows if theirs != "-")
    command = [sys.executable, "-m", "ruff", "format", "--config", str(ROOT / "pyproject.toml"), "-"]
    for code in blocks(PAGE, "python"):
        assert ";" not in code
        assert subprocess.run(command, input=code, capture_output=True, encoding="utf-8", check=True).stdout == code


# --- plain torch ------------------------------------------------------------------------------------------------------


class PlainPass(NamedTuple):
    """Values that hooks of torch.nn around encoder-decoder attention of layer 6 saw in one pass."""

    log_p: Tensor  # (T,) of each output
    heads: Tensor  # (1, T, H * d_v), input of W^O
    weights: Tensor  # (H, T, S)
    values: Tensor  # (H, S, d_v)


def plain(model: Translator, source: str, target: str, change: Callable[[Tensor], Tensor] | None = None) -> PlainPass:
    """Read a pair. `change` gets (1, T, d_v), the output of head 8."""
    batch = model.forced_batch(model.encode(source), model.encode_target(target).ids, finished=True)
    values: dict[str, Tensor] = {}

    def changed(_module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor]:
        (heads,) = given
        if change is not None:
            heads = heads.clone()
            heads[..., HEAD] = change(heads[..., HEAD])
        values["heads"] = heads
        if heads.requires_grad:
            heads.retain_grad()
        return (heads,)

    def keep(name: str) -> Callable[[nn.Module, Any, Tensor], None]:
        return lambda _module, _given, out: values.__setitem__(name, out[0].view(len(out[0]), 8, -1).transpose(0, 1))

    attention = model.model.get_submodule(ATTENTION)
    handles = [attention.get_submodule("w_o").register_forward_pre_hook(changed)]
    handles += [attention.get_submodule(name).register_forward_hook(keep(name)) for name in ("w_q", "w_k", "w_v")]
    logits = model.model(batch.source, batch.inputs, None)
    for handle in handles:
        handle.remove()
    weights = (values["w_q"] @ values["w_k"].transpose(1, 2) / 32**0.5).softmax(dim=-1)
    log_p = logits[0].log_softmax(dim=-1).gather(1, batch.outputs[0, :, None])[:, 0]
    return PlainPass(log_p, values["heads"], weights, values["w_v"])


@pytest.fixture(scope="module")
def pair(scope: dict[str, Any]) -> tuple[Translator, str, str]:
    assert scope["model"].config.d_v == 32 and scope["model"].config.num_heads == 8
    return scope["model"], scope["source"], scope["target"]


def plain_neuron(network: Any, states: Tensor, number: int) -> Tensor:
    first = network.w_1
    result: Tensor = (states[0] @ first.weight[number] + first.bias[number]).relu()
    return result


def close(result: Any, expected: Tensor) -> None:
    np.testing.assert_allclose(result.numpy(), expected.detach().numpy(), atol=2e-4, rtol=1e-3)


@torch.no_grad()
def test_everything_and_one_head(scope: dict[str, Any], pair: tuple[Translator, str, str]) -> None:
    model, source, _ = pair
    run = scope["run"]
    expected = plain(model, source, run.sentences[0].translation)
    close(run.log_p, expected.log_p)
    close(run["cross.6.weights"], expected.weights)
    close(run["cross.6.8.head_outputs"], expected.heads[0, :, HEAD])
    close(run["cross.6.values"], expected.values)
    close(run["cross.6.attention_output"], model.model.get_submodule(f"{ATTENTION}.w_o")(expected.heads)[0])
    close(torch.tensor(scope["weights"]), expected.weights[7])
    assert scope["svg"].startswith(b"<?xml")


@torch.no_grad()
def test_zero_mean_and_patch(scope: dict[str, Any], pair: tuple[Translator, str, str]) -> None:
    model, _, target = pair
    close(scope["ablated"].log_p, plain(*pair, torch.zeros_like).log_p)
    outputs = torch.cat([plain(model, *each).heads[0, :, HEAD] for each in scope["pairs"]])
    close(scope["averaged"].log_p, plain(*pair, outputs.mean(dim=0).expand_as).log_p)
    other = plain(model, "The cat is sleeping on the sofa.", target).heads[..., HEAD]
    close(scope["patched"].log_p, plain(*pair, lambda heads: other).log_p)
    likely = plain(*pair).log_p
    assert likely.sum() > plain(*pair, torch.zeros_like).log_p.sum()
    assert all((scope[each].log_p.tensor - likely).abs().max() > 1e-3 for each in ("ablated", "averaged", "patched"))


@torch.no_grad()
def test_each_sentence_takes_its_own_donor(scope: dict[str, Any]) -> None:
    model, outputs = scope["model"], []
    for other, (source, target) in zip(scope["sources"], scope["pairs"], strict=True):
        donor = plain(model, other, target).heads[..., HEAD]
        outputs.append((plain(model, source, target, donor.view_as).log_p, plain(model, source, target).log_p))
    for number, (expected, before) in enumerate(outputs):
        close(scope["replaced"][number].log_p, expected)
        assert (expected - before).abs().max() > 1e-3


def test_a_metric_of_two_logits(scope: dict[str, Any], pair: tuple[Translator, str, str]) -> None:
    model, source, target = pair
    with torch.enable_grad():
        heads: list[Tensor] = []
        w_o = model.model.get_submodule(f"{ATTENTION}.w_o")
        handle = w_o.register_forward_pre_hook(lambda _module, given: heads.append(given[0]))
        batch = model.forced_batch(model.encode(source), model.encode_target(target).ids, finished=True)
        logits = model.model(batch.source, batch.inputs, None)[0, 1]
        handle.remove()
        (gradient,) = torch.autograd.grad(logits[scope["hund"]] - logits[scope["mann"]], heads[0])
    assert model.tokenizer.tokens([scope["hund"], scope["mann"]]) == ("▁Hund", "▁Mann")
    close(torch.tensor(scope["slope"]), gradient[0, :, HEAD])


@torch.no_grad()
def test_labels_a_stream_a_probe_and_examples(scope: dict[str, Any], pair: tuple[Translator, str, str]) -> None:
    model, source, _ = pair
    assert dict(zip(model.encode(source).tokens, scope["aligned"], strict=False)) == {
        **{"▁The": "DET", "▁dog": "NOUN", "▁is": "AUX", "▁sleeping": "VERB"},
        **dict.fromkeys(["▁on", "▁the", "▁sofa", "."]),
    }
    memories = []
    for text in probe_sentences():
        batch = model.forced_batch(model.encode(text), (), finished=True)
        memories.append(model.model.encode(batch.source, None)[0])
    assert scope["count"] == sum(map(len, memories))
    torch.testing.assert_close(scope["total"], torch.cat(memories).sum(dim=0), atol=1e-2, rtol=1e-3)
    probe, html = scope["probe"], scope["view"].html
    assert probe.accuracy > probe.majority and probe.accuracy > probe.control
    ffn = model.model.get_submodule("encoder.layers.2.feed_forward")
    inner: list[Tensor] = []
    handle = ffn.register_forward_pre_hook(lambda _module, given: inner.append(given[0]))
    for text in probe_sentences()[:50]:
        model.model.encode(model.forced_batch(model.encode(text), (), finished=True).source, None)
    handle.remove()
    highest = max(float(plain_neuron(ffn, each, 7).max()) for each in inner)
    assert f"<tr><td>{highest:.3g}</td>" in html.split("</tr>")[1] + "</tr>"


def test_gradient_x_attention(scope: dict[str, Any], pair: tuple[Translator, str, str]) -> None:
    with torch.enable_grad():
        expected = plain(*pair)
        (gradient,) = torch.autograd.grad(expected.log_p[1], expected.heads)
    at_weights = gradient[0, :, HEAD] @ expected.values[7].T  # head_output = weights @ values
    close(torch.tensor(scope["product"]), at_weights * expected.weights[7])
    assert scope["product"][1].any() and not scope["product"][2:].any()  # the decoder does not see the future


@torch.no_grad()
def test_the_flow_of_an_edge_is_carried_up_by_hand(scope: dict[str, Any], pair: tuple[Translator, str, str]) -> None:
    """An edge of layer 6 passes a LayerNorm, the network with its gates, and another LayerNorm."""
    model, source, target = pair
    below, at, weight = plain(*pair), 4, model.model.get_parameter
    seen = scope["tc"].run(model, (source, target), keep=["scale", "activations", "logits"])

    def normed(vector: Tensor, name: str) -> Tensor:
        norm = f"decoder.layers.5.{name}_add_norm.norm"
        out: Tensor = weight(f"{norm}.weight") * (vector - vector.mean()) / seen[f"{norm}.scale"].tensor[at]
        return out

    network, token = "decoder.layers.5.feed_forward", model.encode_target(target).ids[at]
    gates = seen[f"{network}.activations"].tensor[at] > 0
    direction = model.model.output_weight[token] - model.model.output_weight.mean(dim=0)
    flow = scope["flow"]
    for key, value in enumerate(below.values[7]):
        part = normed(
            weight(f"{ATTENTION}.w_o.weight")[:, HEAD] @ (below.weights[7, at, key] * value), "cross_attention"
        )
        inner = weight(f"{network}.w_2.weight") @ (gates * (weight(f"{network}.w_1.weight") @ part))
        expected = float(direction @ normed(part + inner, "feed_forward"))
        assert flow.edges["cross.6.8"][at, key] == pytest.approx(expected, abs=1e-4)
    logits = seen["decoder.logits"].tensor[at]
    assert flow.source.sum() + flow.inputs.sum() + flow.biases == pytest.approx(
        float(logits[token] - logits.mean()), abs=1e-3
    )


def test_the_other_recipes(scope: dict[str, Any]) -> None:
    assert len(scope["loss"]) == len(scope["runs"]) == 3
    assert scope["lens"].rank.shape[0] == 7 and scope["direct"].total == pytest.approx(scope["direct"].logit, abs=1e-4)
    assert scope["exact"].shape == (1, 1) and scope["exact"].all()
    assert scope["translation"].text.startswith("Auf dem Sofa")
    first, *_, last = (step.log_p.numpy()[1] for step in scope["steps"])
    assert 0.3 < scope["conductance"].sum() / (last - first) < 3  # nine steps


# --- Captum -----------------------------------------------------------------------------------------------------------

EXAMPLE = ("The man sees a house.", "Der Mann sieht ein Haus.", "The man buys a house.")
LAYERS = {
    "encoder.2.residual": "encoder.layers.1.feed_forward_add_norm.norm",
    "encoder.1.ffn_output": "encoder.layers.0.feed_forward.w_2",
    "cross.1.attention_output": "decoder.layers.0.cross_attention.w_o",
    "decoder.2.residual": "decoder.layers.1.feed_forward_add_norm.norm",
}


def recipe(model: Translator, begin: str, at: str) -> Tensor:
    """The lines of the page after the first one, which names places and baseline."""
    source, target, baseline = EXAMPLE
    scope = {"model": model, "source": source, "target": target, "baseline": baseline, "begin": begin, "at": at}
    imports = blocks(PAGE, "python")[0].partition("model = ")[0]
    exec(imports + RECIPES["Conductance of a layer"].partition("\n")[2], scope)
    return torch.tensor(scope["conductance"])


def answer(model: Translator, source: Tensor) -> Tensor:
    """(R, S) ids -> (R,) log-probability of the second target token."""
    batch = model.forced_batch(model.encode(EXAMPLE[0]), model.encode_target(EXAMPLE[1]).ids, finished=True)
    logits = model.model(source, batch.inputs.expand(len(source), -1), None)
    log_p: Tensor = logits[:, 1].log_softmax(dim=-1)[:, batch.outputs[0, 1]]
    return log_p


def ids_of(model: Translator, text: str) -> Tensor:
    return model.forced_batch(model.encode(text), [], finished=True).source


@pytest.mark.parametrize("at", LAYERS)
def test_conductance_is_captums(at: str, learned: Translator) -> None:
    from captum.attr import LayerConductance

    source, _, baseline = (ids_of(learned, text) for text in EXAMPLE)
    embedded = []
    for ids in (source, baseline):
        with torch.no_grad(), capture(learned, "embeddings") as seen:
            answer(learned, ids)
        embedded.append(seen["encoder.embeddings"])

    def from_embeddings(embedded: Tensor) -> Tensor:
        with edit(learned, "encoder.embeddings", patch(embedded)):
            return answer(learned, source.expand(len(embedded), -1))

    captum = LayerConductance(from_embeddings, learned.model.get_submodule(LAYERS[at]))
    expected = captum.attribute(embedded[0], baselines=embedded[1], n_steps=8, method="riemann_trapezoid")[0]
    torch.testing.assert_close(recipe(learned, "encoder.embeddings", at), expected, atol=1e-5, rtol=1e-3)
    assert expected.abs().max() > 1e-3
