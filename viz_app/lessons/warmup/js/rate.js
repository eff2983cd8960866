// The paper's formula (Section 5.3, equation 3), evaluated again for motion; a test compares it with transformer_core.

import { raised } from "../../../components/common/text/format.js";

/**
 * @param {number} step
 * @param {number} width
 * @param {number} warmup
 */
export function rate(step, width, warmup) {
  return width ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);
}

/**
 * @param {number} width
 * @param {number} warmup
 */
export function peak(width, warmup) {
  return (width * warmup) ** -0.5;
}

/**
 * 0.000699 -> "6.99 × 10⁻⁴".
 * @param {number} value
 * @param {number} [digits]
 */
export function scientific(value, digits = 2) {
  if (!value) return "0";
  const [number, power] = value.toExponential(digits).split("e");
  return `${number} \u00d7 10${raised(Number(power))}`;
}
