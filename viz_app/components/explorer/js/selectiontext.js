// What is selected: only what the translation has. Python hears of it when it has rested.

import { reportAfter } from "../../common/report.js";

const REPORT_AFTER = 300; // milliseconds of rest before Python hears of a selection

/**
 * Layer, head, step and pin that exist in a translation; all kinds need the whole width.
 * @param {Translation} translation
 * @param {Pick<State, "kind" | "layer" | "head" | "step" | "pin" | "unit" | "average" | "zoom" | "view">} state
 */
export function fitted(translation, state) {
  const { kind: wanted, layer, head, step, pin, unit, average } = state;
  const kind = translation.available.includes(wanted)
    ? wanted
    : translation.available[translation.available.length - 1];
  const shape = translation.kinds[kind];
  const view = translation.view(kind, unit, step ?? translation.length);
  const positions = pin?.startsWith("k") ? view.keys : view.queries;
  const place = [Math.min(layer, shape.layers - 1), Math.min(head, shape.heads - 1)];
  const there = view.lacks(place[0], place[1]) ? nearest(view, place[0]) : place;
  return {
    kind,
    zoom: /** @type {State["zoom"]} */ (state.view === "kinds" ? "heads" : state.zoom),
    pin: pin && Number(pin.slice(1)) < positions.length ? pin : null,
    average,
    layer: there[0],
    head: there[1],
    step: step !== null && step >= translation.length ? null : step,
  };
}

/**
 * The first head of the layer, or of the nearest one that has any.
 * @param {View} view
 * @param {number} layer
 */
function nearest(view, layer) {
  const heads = view.present(Array.from({ length: view.layers }, (_, index) => index));
  return heads.reduce((best, place) => (Math.abs(place[0] - layer) < Math.abs(best[0] - layer) ? place : best));
}

export class Report {
  /** @type {(selection: Partial<State>) => void} Tells Python; main.js gives it. */
  send;
  /** @type {string} The selection that Python knows, as JSON. */
  reported;
  /** @type {() => void} */
  cancel = () => {};

  /**
   * @param {HTMLElement} root
   * @param {Store} store
   */
  constructor(root, store) {
    this.root = root;
    this.store = store;
  }

  /** The selection came from Python, which need not hear of it. */
  known() {
    this.reported = JSON.stringify(this.store.selection());
  }

  /** @param {Translation} translation What is shown. */
  update({ beam, about }) {
    const text = JSON.stringify(this.store.selection());
    this.cancel();
    if (text === this.reported || this.store.state.playing) return;
    const { branch, force } = this.store.state;
    const waits = branch !== (beam?.shown ?? 0) || force !== (about?.force ?? null); // for maps that Python has to make
    this.cancel = reportAfter(waits ? 0 : REPORT_AFTER, this.root, () => {
      this.reported = text;
      this.send(JSON.parse(text));
    });
  }

  stop() {
    this.cancel();
  }
}
