// Numbers as they stand on the screen.

const RAISED = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079";

/**
 * -4 -> "⁻⁴", an exponent.
 * @param {number} power
 */
export function raised(power) {
  return [...String(power)].map((sign) => (sign === "-" ? "\u207b" : RAISED[Number(sign)])).join("");
}

/**
 * -0.5 -> "−0.50", with a minus as wide as a digit, which a rounded zero does not have.
 * @param {number} value
 * @param {number} [digits]
 */
export function signed(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `\u2212${text}` : text;
}

/**
 * 1580544 -> "1 580 544", with thin spaces that do not break.
 * @param {number} value
 */
export function grouped(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/**
 * 12000 -> "12,000", the same in both languages.
 * @param {number} value
 */
export function thousands(value) {
  return Math.round(value).toLocaleString("en-US");
}

/**
 * A very small number: 5.7e-6 -> "6 · 10⁻⁶".
 * @param {number} value
 */
export function tiny(value) {
  if (value === 0) return "0";
  const [digit, exponent] = value.toExponential(0).split("e");
  return `${digit}\u202f\u00b7\u202f10${raised(Number(exponent))}`;
}

/**
 * A share of a motion that begins and ends gently; 0 and 1 stay.
 * @param {number} share
 */
export function ease(share) {
  const within = Math.max(0, Math.min(1, share));
  return within * within * (3 - 2 * within);
}
