// What can be read of a model of Table 3: quality in two ways, and size. To the right is always better.

/** @typedef {import("./numbers").Variation} Line */
/** @typedef {Partial<import("./numbers").Reduced> & { mean: number }} Value */

/**
 * `paper` and `ours` read a line; `better`: 1 where more is better, -1 where less is, 0 where neither.
 * @typedef {object} Measure
 * @property {string} unit
 * @property {1 | 0 | -1} better
 * @property {boolean} log
 * @property {number} digits
 * @property {(value: number) => string} show
 * @property {(line: Line) => Value} paper
 * @property {(line: Line) => Value | null | undefined} ours
 */

/** @type {Record<string, Measure>} */
export const MEASURES = {
  bleu: {
    unit: "BLEU",
    better: 1,
    log: false,
    digits: 1,
    show: (value) => value.toFixed(1),
    paper: ({ bleu }) => ({ mean: bleu }),
    ours: ({ ours }) => ours?.bleu,
  },
  // Perplexities are told apart by their ratio.
  perplexity: {
    unit: "PPL",
    better: -1,
    log: true,
    digits: 2,
    show: (value) => value.toFixed(2),
    paper: ({ perplexity }) => ({ mean: perplexity }),
    ours: ({ ours }) => ours?.perplexity,
  },
  parameters: {
    unit: "",
    better: 0,
    log: true,
    digits: 3,
    show: (value) => value.toFixed(value < 10 ? 3 : 1),
    paper: ({ counted }) => ({ mean: counted[1] }),
    ours: ({ ours }) => ours && { mean: ours.parameters / 1e6 },
  },
};

/**
 * [left, right] of an axis that holds all values and some room; null where there are none.
 * @param {(Value | null | undefined)[]} values
 * @param {Measure} measure
 */
export function axisEnds(values, { better, log }) {
  const all = values.flatMap((value) => (value ? [value.mean, ...(value.seeds ?? []), ...(value.band ?? [])] : []));
  if (!all.length) return null;
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const room = log ? (high / low) ** 0.08 : 0.08 * (high - low || 1);
  const ends = log ? [low / room, high * room] : [low - room, high + room];
  return better < 0 ? ends.reverse() : ends;
}

/**
 * At most `count` round numbers along an axis, whichever way it runs.
 * @param {Axis} axis
 * @param {number} count
 */
export function axisTicks(axis, count) {
  const [low, high] = [Math.min(axis.low, axis.high), Math.max(axis.low, axis.high)];
  for (const step of steps(axis.log ? high - low : (high - low) / count)) {
    const first = Math.ceil(low / step - 1e-9);
    const ticks = Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, index) =>
      Number(((first + index) * step).toPrecision(10)),
    );
    const apart = ticks.slice(1).map((tick, index) => Math.abs(axis.place(tick) - axis.place(ticks[index])));
    if (ticks.length <= count && apart.every((pixels) => pixels >= 26)) return ticks;
  }
  return [];
}

/**
 * 0.01, 0.02, 0.05, 0.1, ... from about a hundredth of a span on.
 * @param {number} span
 */
function steps(span) {
  const power = Math.floor(Math.log10(span || 1)) - 2;
  return Array.from({ length: 12 }, (_, index) => [1, 2, 5][index % 3] * 10 ** (power + Math.floor(index / 3)));
}
