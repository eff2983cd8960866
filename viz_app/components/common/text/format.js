// Numbers and labels as text.

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
 * 12000 -> "12,000", in both languages.
 * @param {number} value
 */
export function formatCount(value) {
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

/**
 * A label with its {placeholders} filled; {count|step|steps} is the first word where the count is 1, else the second.
 * @param {string} template
 * @param {Record<string, string | number | undefined>} values
 */
export function fillText(template, values) {
  return template.replace(/\{([a-z_]+)(?:\|([^{}|]+)\|([^{}|]+))?\}/g, (_, name, one, other) => {
    const value = String(values[name] ?? "");
    return one ? (value === "1" ? one : other) : value;
  });
}

/** The sign after a number, with a space that does not break; without one on a Korean page. */
export function percentSign() {
  return globalThis.document?.documentElement.lang === "ko" ? "%" : "\u202f%";
}

/**
 * 0.8123 -> "81 %".
 * @param {number} value
 */
export function percent(value) {
  return `${Math.round(value * 100)}${percentSign()}`;
}

/**
 * 0.8123 -> "0.812".
 * @param {number} value
 */
export function decimals(value) {
  return value.toFixed(3);
}

/**
 * Layer 3, head 5, both from 0 -> "4.6".
 * @param {number} layer
 * @param {number} head
 */
export function headName(layer, head) {
  return `${layer + 1}.${head + 1}`;
}

/**
 * 4620000 -> "4.62M", in Korean "462만"
 * @param {number} count
 * @param {string} language
 */
export function compact(count, language) {
  return new Intl.NumberFormat(language, { notation: "compact", maximumSignificantDigits: 3 }).format(count);
}
