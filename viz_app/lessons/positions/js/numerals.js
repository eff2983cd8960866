// Numbers as they stand in the pictures of this lesson.

/**
 * Of any size: "6.3", "112", "54 410".
 * @param {number} value
 */
export function many(value) {
  if (value < 10) return value.toFixed(1);
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/**
 * -0.5 -> "-0.50" with a minus as wide as a digit.
 * @param {number} value
 * @param {number} [digits]
 */
export function signed(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  return value < 0 && Number(text) !== 0 ? `\u2212${text}` : text;
}

/**
 * A very small number: 3.1e-16 -> "3 · 10" and the raised exponent.
 * @param {number} value
 */
export function tiny(value) {
  if (value === 0) return "0";
  const [digit, exponent] = value.toExponential(0).split("e");
  return `${digit}\u202f\u00b7\u202f10${[...exponent].map((sign) => RAISED[sign] ?? "").join("")}`;
}

const RAISED = {
  "-": "\u207b",
  0: "\u2070",
  1: "\u00b9",
  2: "\u00b2",
  3: "\u00b3",
  4: "\u2074",
  5: "\u2075",
  6: "\u2076",
  7: "\u2077",
  8: "\u2078",
  9: "\u2079",
};
