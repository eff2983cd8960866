// Tokens merged to words, head by head: sums over the keys of a word, averages over its queries, so rows still sum to 1.

const NOTHING = -2; // not merged yet
const WHOLE = -1; // every row is over all tokens of its word

export class Merged {
  /** @type {number} Tokens for which `lookup` was last looked up. */
  requested;
  /** @type {number} */
  lookup;

  /**
   * @param {Uint16Array} tokens Weights of all heads of a kind, (maps, queries, keys) in a row.
   * @param {number} keyTokens Keys of one row of `tokens`.
   * @param {Position[]} queries Words as positions with `first` and `last` token.
   * @param {Position[]} keys The same for the keys.
   * @param {number} maps
   */
  constructor(tokens, maps, keyTokens, queries, keys) {
    this.tokens = tokens;
    this.keyTokens = keyTokens;
    this.queries = queries;
    this.keys = keys;
    this.size = tokens.length / maps; // of a head over tokens
    this.values = new Float32Array(maps * queries.length * keys.length); // in the unit of `tokens`
    this.states = new Int32Array(maps).fill(NOTHING);
  }

  /**
   * Merges a head when it is first asked for. All steps share one result: only the row of a word of which a part is
   * written differs from step to step.
   * @param {number} map
   * @param {number} written
   */
  need(map, written) {
    if (this.states[map] === NOTHING) {
      this.queries.forEach((_, query) => this.row(map, query, Infinity));
      this.states[map] = WHOLE;
    }
    const state = this.partial(written) < 0 ? WHOLE : written;
    if (this.states[map] === state) return;
    if (this.states[map] !== WHOLE) this.row(map, this.partial(this.states[map]), Infinity);
    if (state !== WHOLE) this.row(map, this.partial(written), written);
    this.states[map] = state;
  }

  /**
   * Return the word that is generated in part; -1 if there is none.
   * @param {number} written
   */
  partial(written) {
    if (this.requested !== written) {
      this.requested = written;
      this.lookup = this.queries.findIndex(({ first, last }) => first < written && last >= written);
    }
    return this.lookup;
  }

  /**
   * @param {number} map
   * @param {number} query
   * @param {number} written
   */
  row(map, query, written) {
    const { first, last } = this.queries[query];
    const end = Math.min(last + 1, written);
    let target = (map * this.queries.length + query) * this.keys.length;
    for (const key of this.keys) {
      let sum = 0;
      for (let row = first; row < end; row++) {
        const start = map * this.size + row * this.keyTokens;
        for (let column = start + key.first; column <= start + key.last; column++) sum += this.tokens[column];
      }
      this.values[target++] = sum / (end - first);
    }
  }
}
