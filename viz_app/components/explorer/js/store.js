// What is selected, and who wants to know.

/** The part of the state that Python hears about; the same names as in selection.py. */
const REPORTED = ["kind", "layer", "head", "step", "unit", "view"];

export class Store {
  /** Changes are collected and drawn once a frame. */
  constructor(render) {
    this.state = {
      kind: "cross",
      layer: 0,
      head: 0,
      step: null, // pieces written; null is the whole translation
      unit: "pieces",
      view: "heads",
      gloss: [0, 0], // the cross head whose favourites stand under the translation
      cursor: null, // {query, key, spoken}: the cell under the pointer or of the keyboard; query or key may be null
      playing: false,
      table: false,
    };
    this.changed = new Set();
    this.frame = 0;
    this.render = render;
  }

  set(patch) {
    for (const [name, value] of Object.entries(patch)) {
      if (Object.is(this.state[name], value)) continue;
      this.state[name] = value;
      this.changed.add(name);
    }
    if (this.changed.has("kind") || this.changed.has("unit")) this.touch({ cursor: null });
    const { kind, layer, head } = this.state;
    const opened = ["kind", "layer", "head"].some((name) => name in patch);
    if (opened && kind === "cross") this.touch({ gloss: [layer, head] });
    this.schedule();
  }

  touch(patch) {
    for (const name of Object.keys(patch)) this.changed.add(name);
    Object.assign(this.state, patch);
  }

  /** Marks something that is not part of the state, such as the size or the theme, as changed. */
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
    return Object.fromEntries(REPORTED.map((name) => [name, this.state[name]]));
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = -1;
  }
}
