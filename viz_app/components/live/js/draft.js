// What a search has so far: its best hypothesis, with the weights of the rows that it has read.

import { axis } from "./axes.js";

/**
 * @param {import("./translator.js").Translator} translator
 * @param {import("./translator.js").Found} state Its search goes on.
 * @param {Int32Array} sent The slots of the draft before.
 * @returns {{ draft: Draft, slots: Int32Array }}
 */
export function draftOf({ tokenizer, model }, { encoding, search }, sent) {
  const { ids, slots, finished } = search.best;
  const { encoder, steps } = /** @type {import("./beamsearch.js").Recorded} */ (search.recorded);
  const tokens = ids.map((id) => tokenizer.tokens[id]);
  const other = slots.findIndex((slot, position) => slot !== sent[position]);
  const from = other < 0 ? slots.length : other;
  const rows = steps.slice(from, slots.length).flatMap((step, index) => {
    const row = slots[from + index] - step.first;
    return step.weights.flatMap((weights) => rowOf(weights, row, step.rows, model.config.num_heads));
  });
  const draft = {
    axes: {
      source: axis(encoding.tokens, { end: true }),
      inputs: axis(finished ? tokens : tokens.slice(0, -1), { start: true }),
      outputs: axis(tokens, { end: finished }),
    },
    from,
    rows: toBytes(rows),
    encoder: from ? null : toBytes(encoder),
  };
  return { draft, slots };
}

/**
 * One row of each head.
 * @param {Float32Array} weights (h, rows, K)
 * @param {number} row
 * @param {number} rows
 * @param {number} heads
 */
function rowOf(weights, row, rows, heads) {
  const keys = weights.length / heads / rows;
  return Array.from({ length: heads }, (_, head) =>
    weights.subarray((head * rows + row) * keys, (head * rows + row + 1) * keys),
  );
}

/** @param {Float32Array[]} parts */
function toBytes(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) for (const weight of part) bytes[at++] = Math.round(255 * Math.min(1, weight));
  return bytes;
}
