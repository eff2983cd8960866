// The largest of many flows by size, without a list of all.

/** @typedef {[flow: number, a: number, b: number, c: number, d: number]} Placed A flow, and four numbers that say whose. */

export class Largest {
  /** Flows of this size or less are not among them. */
  bar = 0;
  /** @type {Placed[]} */
  items = [];

  /** @param {number} most */
  constructor(most) {
    this.most = most;
  }

  /**
   * @param {number} flow
   * @param {number} a
   * @param {number} b
   * @param {number} c
   * @param {number} d
   */
  add(flow, a, b, c, d) {
    if (Math.abs(flow) <= this.bar) return;
    if (this.items.push([flow, a, b, c, d]) >= 4 * this.most) this.bar = Math.abs(this.sorted()[this.most - 1][0]);
  }

  /** The largest first. */
  sorted() {
    this.items = this.items.sort(bySize).slice(0, this.most);
    return this.items;
  }
}

/**
 * The order as a small integer: a fraction would be garbage, megabytes of it for a sentence.
 * @param {Placed} one
 * @param {Placed} other
 */
function bySize(one, other) {
  const [size, more] = [Math.abs(one[0]), Math.abs(other[0])];
  return size < more ? 1 : size > more ? -1 : 0;
}
