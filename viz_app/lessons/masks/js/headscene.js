// Shared parts of the scenes of one decoder head: its scores before the mask, and its control.

import { headAddress } from "../../../components/common/heads/heads.js";
import { fillText } from "../../../components/common/text/format.js";
import { tokenText } from "../../../components/common/text/tokens.js";
import { slider } from "../../stage/js/describe.js";
import { Scene } from "../../stage/js/scene.js";
import { hiddenMass, weightsUnder } from "./softmax.js";

/** @extends {Scene<import("./numbers").Values>} */
export class HeadScene extends Scene {
  get count() {
    return this.lesson.values.inputs.length;
  }

  get controls() {
    const max = this.lesson.arrays.scores.shape[0] - 1;
    const start = this.lesson.values.head;
    return [slider({ name: "head", label: this.texts.head, max, start, show: (head) => this.address(head) })];
  }

  /** @param {number} head Among those of all layers. */
  address(head) {
    const { heads } = this.lesson.values;
    return headAddress({ kind: "decoder", layer: Math.floor(head / heads), head: head % heads });
  }

  /**
   * Scores of a row before the mask.
   * @param {number} head
   * @param {number} row
   */
  scores(head, row) {
    return Array.from(this.lesson.arrays.scores.part(Math.round(head), row).data);
  }

  /**
   * Weights of a row; `open` as of `weightsUnder`: 1 without the mask, 0 with it.
   * @param {number} head
   * @param {number} row
   * @param {number} open
   */
  weights(head, row, open) {
    return weightsUnder(this.scores(head, row), (k) => k > row, open);
  }

  /**
   * Return the share of a row on future positions.
   * @param {number} head
   * @param {number} row
   */
  freed(head, row) {
    return hiddenMass(this.weights(head, row, 1), (k) => k > row);
  }

  /**
   * The token that a row reads and the one that it is to predict.
   * @param {number} row
   */
  names(row) {
    const { inputs, outputs } = this.lesson.values;
    return { read: tokenText(inputs[row]), next: tokenText(outputs[row]) };
  }

  /**
   * @param {string} template
   * @param {number} row
   * @param {Record<string, string>} [values]
   */
  filled(template, row, values = {}) {
    return fillText(template, { row: row + 1, ...this.names(row), ...values });
  }
}
