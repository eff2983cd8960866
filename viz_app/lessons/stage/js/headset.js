// A set of heads as a setting of a scene: short enough for an address.

const BITS = [16, 8, 4, 2, 1];

/**
 * Five heads in each digit, so that all of them fit into an address.
 * @param {string} digits
 */
export function bits(digits) {
  return [...digits].flatMap((digit) => BITS.map((bit) => Boolean(parseInt(digit, 32) & bit)));
}

/** @param {boolean[]} values */
export function digits(values) {
  let text = "";
  for (let start = 0; start < values.length; start += 5)
    text += BITS.reduce((sum, bit, index) => sum + (values[start + index] ? bit : 0), 0).toString(32);
  return text.replace(/0+$/, "") || "0";
}
