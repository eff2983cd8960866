// Descriptions of controls and playheads, with what most of them have in common; scene.js says what the fields mean.

/**
 * Chips of which one is on, at the beginning the first.
 * @param {string} name
 * @param {string} label
 * @param {Record<string, string>} options The label of each value.
 * @param {Partial<Control>} [more]
 * @returns {Control}
 */
export function choice(name, label, options, more = {}) {
  return { name, kind: "choice", label, options: Object.entries(options), start: Object.keys(options)[0], ...more };
}

/**
 * A slider over whole numbers from 0 on, unless it says otherwise.
 * @param {{ name: string, label: string, min?: number, max: number, step?: number, start?: number, server?: boolean,
 *   show?: (value: number) => string, where?: (settings: Settings) => boolean, read?: (settings: Settings) => number,
 *   patch?: (value: number) => Settings }} description
 * @returns {Control}
 */
export function slider({ min = 0, step = 1, start = min, ...others }) {
  return { kind: "range", min, step, start, ...others };
}

/**
 * A playhead that goes from 0 on over whole numbers, unless it says otherwise.
 * @param {{ name: string, label: string, min?: number, max: number, step?: number, rate: number, start?: number,
 *   loop?: boolean, once?: boolean, show?: (value: number) => string }} description
 * @returns {Playhead}
 */
export function playhead({ min = 0, step = 1, start = min, show = whole, ...others }) {
  return { min, step, start, show, ...others };
}

/**
 * A playhead over the steps of something that has `max` of them, from 1 on.
 * @param {string} label
 * @param {number} max
 * @param {Partial<Playhead>} [more]
 * @returns {Playhead}
 */
export function stepPlayhead(label, max, more = {}) {
  return playhead({ name: "step", label, min: 1, max, rate: 1.2, show: rounded, ...more });
}

/**
 * 2.7 -> "3"
 * @param {number} value
 */
export function rounded(value) {
  return String(Math.round(value));
}

/**
 * 2.71 -> "2.7", 2 -> "2"
 * @param {number} value
 */
export function tenths(value) {
  return value.toFixed(value % 1 ? 1 : 0);
}

/**
 * 2.7 -> "2", the whole step at which a gliding playhead is.
 * @param {number} value
 */
function whole(value) {
  return String(Math.floor(value + 1e-6));
}
