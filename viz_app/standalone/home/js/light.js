// The light of the home: the folded flow, under a sentence that is being typed.

import { FlowCanvas } from "../../../components/explorer/js/flow/flowcanvas.js";

/** @typedef {import("../../../components/explorer/js/flow/foldedplaces.js").FoldedPlaces} FoldedPlaces */

export class Light extends FlowCanvas {
  typed = Infinity; // characters of the sentence that stand there

  /** @param {"morph" | "sweep" | "grow" | null} how */
  compose(how) {
    const { scene } = this;
    super.compose(this.typed < Infinity ? null : how); // words of the sentence before would become those to come
    if (this.scene !== scene && this.typed < Infinity) this.type();
  }

  /** Leaves of the sentence what is typed, and puts a caret behind it. */
  type() {
    const { folded, scene, theme, typed } = this;
    let before = 0;
    folded.tokens.source.forEach(({ text, start, special }, index) => {
      const shape = scene.get(`s${index}`);
      if (!shape) return;
      if (start && index) before++;
      const there = special ? "" : text.slice(0, Math.max(0, typed - before));
      const [x, y, size] = shape.at;
      const left = x - folded.measure(text, size) / 2;
      const at = folded.across ? [left, ...shape.at.slice(1)] : shape.at;
      scene.set(`s${index}`, { ...shape, text: there, at, align: folded.across ? "left" : shape.align });
      const end = folded.across ? left + folded.measure(there, size) : x;
      if (there)
        scene.set("caret", {
          form: "bar",
          at: [end + 2, y - size * 0.6, 2, size * 1.2],
          alpha: 1,
          colour: theme.kinds.cross,
        });
      before += text.length;
    });
  }
}
