// Numbers in order, and lists that are walked round and round.

/**
 * The member that is `count` places after another one, round and round.
 * @template Member
 * @param {Member[]} list
 * @param {number} at
 * @param {number} count
 */
export function after(list, at, count) {
  return list[(at + count + list.length) % list.length];
}

/**
 * The place of the largest number.
 * @param {ArrayLike<number>} values
 */
export function largest(values) {
  return Array.prototype.indexOf.call(values, Math.max(...Array.from(values)));
}

/**
 * Places from the largest number to the smallest, their signs left out.
 * @param {number[]} values
 */
export function bySize(values) {
  return [...values.keys()].sort((one, other) => Math.abs(values[other]) - Math.abs(values[one]));
}
