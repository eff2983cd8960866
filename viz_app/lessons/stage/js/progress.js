// The reader's way through the lessons, on the device: scenes that were open, and what was predicted first.

import { keep, readKept } from "../../../components/common/page/device.js";

const MAX = 40; // of the scenes of a lesson

/**
 * @param {string} lesson
 * @returns {{ seen: string[], predicted: Record<string, number> }} The number of a choice by scene.
 */
export function readProgress(lesson) {
  const { seen, predicted } = /** @type {any} */ (readKept(`lesson-${lesson}`) ?? {});
  const scenes = Array.isArray(seen) ? seen.filter((each) => typeof each === "string") : [];
  const choices = Object.entries(predicted ?? {}).filter(([, choice]) => Number.isInteger(choice));
  return { seen: scenes.slice(0, MAX), predicted: Object.fromEntries(choices.slice(0, MAX)) };
}

/**
 * Keeps an open scene, and predictions where there was none.
 * @param {string} lesson
 * @param {string[]} scenes
 * @param {Record<string, number>} predictions
 */
export function keepProgress(lesson, scenes, predictions = {}) {
  const { seen, predicted } = readProgress(lesson);
  keep(`lesson-${lesson}`, { seen: [...new Set([...seen, ...scenes])], predicted: { ...predictions, ...predicted } });
}
