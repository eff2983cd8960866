// One matrix of weights, of a head or a mean: what draws or tells a matrix takes this.

/** Of its view it has everything but rows, columns and their labels. */
export class Matrix {
  /** @type {Position[]} */
  keys;
  /** @type {number} */
  columns;

  /** @param {View} view */
  constructor(view) {
    const { kind, unit, step, causal } = view;
    this.view = view;
    this.kind = kind;
    this.unit = unit;
    this.step = step;
    this.causal = causal;
  }

  /**
   * @param {number} query
   * @param {number} key
   */
  at(query, key) {
    return 0;
  }

  /**
   * Whether the model may not look from this query at this key.
   * @param {number} query
   * @param {number} key
   */
  masked(query, key) {
    return this.view.masked(query, key);
  }

  /** @param {number} query */
  rowSum(query) {
    let sum = 0;
    for (let key = 0; key < this.columns; key++) sum += this.at(query, key);
    return sum;
  }

  /**
   * The key with the largest weight in a row, among those that `allowed` lets through; -1 when there is none.
   * @param {number} query
   * @param {(position: Position) => boolean} [allowed]
   */
  favourite(query, allowed = () => true) {
    let best = -1;
    for (let key = 0; key < this.columns; key++) {
      if (this.masked(query, key) || !allowed(this.keys[key])) continue;
      if (best < 0 || this.at(query, key) > this.at(query, best)) best = key;
    }
    return best;
  }
}

/**
 * A matrix over the axes of a view: a head, or a mean over heads.
 *
 * `name` is "4.6" for a head; "4.mean" and "mean" are means, which the model itself never computes. `heads` lists as
 * [layer, head] what it is the mean of.
 */
export class Sheet extends Matrix {
  /**
   * @param {View} view
   * @param {string} name
   * @param {ArrayLike<number>} values
   * @param {number} start
   * @param {number} scale
   * @param {number[][]} heads
   */
  constructor(view, name, values, start, scale, heads) {
    super(view);
    this.name = name;
    this.values = values;
    this.start = start;
    this.scale = scale;
    this.heads = heads;
    const { queries, keys, others, rows, columns } = view;
    this.queries = queries;
    this.keys = keys;
    this.others = others;
    this.rows = rows;
    this.columns = columns;
  }

  /**
   * @param {number} query
   * @param {number} key
   */
  at(query, key) {
    return this.values[this.start + query * this.keys.length + key] * this.scale;
  }

  /** @param {number} query */
  rowSum(query) {
    const { view, heads } = this;
    if (!view.exactSums) return super.rowSum(query);
    return heads.reduce((sum, [layer, head]) => sum + view.rowSum(layer, head, query), 0) / heads.length;
  }
}
