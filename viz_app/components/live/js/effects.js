// The effect of heads on a translation, as transformer_core/analysis/effects/head_effects.py measures it: the log-probability
// with all heads, minus without that one.
//
// Each head is switched off in turn, which takes long for all of them. So only the heads with the largest flow are measured.
// A gradient would not do: to first order, the head that a sentence needs most may seem to do harm.

import { allHeads } from "../../common/heads/heads.js";
import { frozenPass } from "./frozen.js";
import { total } from "./translator.js";

const MEASURED = 32;

/** @typedef {import("./transformer.js").HeadPlace & { effect: number }} HeadEffect In nats. */

/**
 * Lists heads, the largest effect first; yields during the work.
 * @param {import("./translator.js").Translator} translator
 * @param {import("./translator.js").Found} found
 * @param {number} [count] Heads that are measured.
 * @returns {Generator<undefined, HeadEffect[]>}
 */
export function* headsByEffect(translator, found, count = MEASURED) {
  const { model, special, tokenizer } = translator;
  const { ids } = tokenizer.encode(translator.text(found));
  const [source, target, outputs] = [
    [...found.encoding.ids, special.eos],
    [special.bos, ...ids],
    [...ids, special.eos],
  ];
  const whole = frozenPass(model, source, target);
  const at = (/** @type {"encoder" | "decoder"} */ stack, /** @type {number} */ layer) => ({
    layer,
    x: whole[stack].states[layer],
  });
  const { num_layers } = model.config;
  const memory = model.encode(source, undefined, at("encoder", num_layers));
  const before = total(translator.logProbabilities(at("decoder", num_layers).x, outputs));
  const flows = yield* flowOfHeads(translator, whole, outputs);
  /** @type {HeadEffect[]} */
  const effects = [];
  for (const { kind, layer, head } of flows.sort((one, other) => other.flow - one.flow).slice(0, count)) {
    yield;
    const start = kind === "encoder" ? { encoder: at(kind, layer) } : { memory, decoder: at("decoder", layer) };
    const vectors = translator.forcedPass([{ kind, layer, head }], source, target, undefined, start);
    effects.push({ kind, layer, head, effect: before - total(translator.logProbabilities(vectors, outputs)) });
  }
  return effects.sort((one, other) => other.effect - one.effect);
}

/**
 * The size of the flow through each head, over all words.
 * @param {import("./translator.js").Translator} translator
 * @param {import("./frozen.js").Frozen} whole
 * @param {number[]} outputs
 */
function* flowOfHeads({ model, frozenModel }, whole, outputs) {
  const { num_layers, num_heads } = model.config;
  const heads = allHeads(num_layers, num_heads).map((head) => ({ ...head, flow: 0 }));
  for (const [position, token] of outputs.entries()) {
    yield;
    const { edges } = frozenModel.flow(whole, position, token, null);
    for (const each of heads) {
      const { flows } = edges[each.kind][each.layer];
      const size = flows.length / num_heads;
      each.flow += Math.abs(total([...flows.subarray(each.head * size, (each.head + 1) * size)]));
    }
  }
  return heads;
}
