// What is selected, and who wants to know.

export class Store {
  /**
   * Changes are collected and drawn once a frame.
   * @param {(state: State, changed: Set<string>) => void} render
   */
  constructor(render) {
    /** @type {ExplorerSelection} What Python hears about, as it is at the start; `declare` tells it. */
    this.defaults = /** @type {any} */ ({});
    this.state = /** @type {State} */ ({
      opens: "heads", // the view that such a model opens with
      viewChosen: false, // whether another view than that was chosen; it then stays with other models
      off: null, // "cross.6.8": the selected head, while it is switched off
      gloss: [0, 0], // the cross head whose favourites stand under the translation
      cursor: null, // {query, key, spoken}: the cell under the pointer or of the keyboard; query or key may be null
      spot: null, // the same among the heads of one token: `query` is the index of a head
      playing: false,
      table: false,
      beam: false, // whether the tree of the search is open
    });
    this.changed = new Set();
    this.frame = 0;
    this.render = render;
  }

  /**
   * Takes over the fields of the selection with the values that they have at the start.
   * @param {ExplorerSelection} defaults From the payload; see selection.py.
   */
  declare(defaults) {
    this.defaults = defaults;
    Object.assign(this.state, defaults);
  }

  /** @param {Partial<State>} patch */
  set(patch) {
    for (const [name, value] of Object.entries(patch)) {
      if (Object.is(this.state[name], value)) continue;
      this.state[name] = value;
      this.changed.add(name);
    }
    if (patch.view !== undefined) this.state.viewChosen = patch.view !== this.state.opens;
    if (this.changed.has("kind") || this.changed.has("unit")) this.touch({ cursor: null, spot: null });
    if (this.changed.has("unit") || ("kind" in patch && !("pin" in patch) && this.changed.has("kind")))
      this.touch({ pin: null });
    const { kind, layer, head } = this.state;
    if ((patch.layer !== undefined || patch.head !== undefined) && !("average" in patch))
      this.touch({ average: "none" });
    const other = ["kind", "layer", "head", "average", "branch", "force"].some((name) => this.changed.has(name));
    if (other && this.state.off && !("off" in patch)) this.touch({ off: null });
    const opened = ["kind", "layer", "head"].some((name) => name in patch);
    if (opened && kind === "cross") this.touch({ gloss: [layer, head] });
    this.schedule();
  }

  /** @param {Partial<State>} patch */
  touch(patch) {
    for (const name of Object.keys(patch)) this.changed.add(name);
    Object.assign(this.state, patch);
  }

  /**
   * Marks something that is not part of the state, such as the size or the theme, as changed.
   * @param {string} name
   */
  mark(name) {
    this.changed.add(name);
    this.schedule();
  }

  schedule() {
    if (!this.changed.size || this.frame) return;
    this.frame = requestAnimationFrame(() => this.flush());
  }

  flush() {
    this.frame = 0;
    const changed = this.changed;
    this.changed = new Set();
    this.render(this.state, changed);
  }

  selection() {
    return Object.fromEntries(Object.keys(this.defaults).map((name) => [name, this.state[name]]));
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = -1;
  }
}
