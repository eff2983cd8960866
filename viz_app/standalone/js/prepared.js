// A lesson without Python, as standalone/lessons.py writes it: the numbers of each scene, and of each setting that asks
// Python.

import { ALIGNMENT, joinBuffer } from "../../components/common/buffer.js";
import { readBytes } from "./packed.js";

/** @typedef {{ shape: number[], type: string, block: string }} PreparedArray
 * @typedef {{ scene: string, settings: Settings }} PreparedState
 * @typedef {{ values: Record<string, number>, arrays: Record<string, PreparedArray>, state: PreparedState }} Prepared
 *   Its values are numbers of texts; its other fields are those of a payload's header.
 * @typedef {{ header: { name: string }, values: string[], states: Record<string, Prepared> }} PreparedLesson
 */

/**
 * The key of the first state of a scene; undefined for a scene that is not there.
 * @param {PreparedLesson} lesson
 * @param {string | null} scene
 */
export function firstState({ states }, scene) {
  return Object.keys(states).find((each) => `${each} `.startsWith(`${scene} `));
}

/**
 * The payload of a state.
 * @param {PreparedLesson} lesson
 * @param {string} key
 * @param {Settings} [settings] In which states do not differ.
 */
export async function payloadOf({ header, values, states }, key, settings = {}) {
  const own = states[key];
  const parts = await Promise.all(Object.values(own.arrays).map(({ block }) => readBytes(block)));
  const starts = startsOf(parts);
  const data = new Uint8Array(starts[parts.length]);
  parts.forEach((part, index) => data.set(part, starts[index]));
  const arrays = Object.entries(own.arrays).map(([name, array], index) => [name, { ...array, offset: starts[index] }]);
  const numbers = Object.entries(own.values).map(([name, number]) => [name, JSON.parse(values[number])]);
  const state = { ...own.state, settings: { ...settings, ...own.state.settings } };
  const full = { ...header, ...own, state, values: Object.fromEntries(numbers), arrays: Object.fromEntries(arrays) };
  return joinBuffer(full, data);
}

/**
 * Where parts start one behind the other, each at a multiple of the longest item; and the length of all.
 * @param {Uint8Array[]} parts
 */
function startsOf(parts) {
  const starts = [0];
  for (const part of parts) starts.push(Math.ceil((starts[starts.length - 1] + part.length) / ALIGNMENT) * ALIGNMENT);
  return starts;
}
