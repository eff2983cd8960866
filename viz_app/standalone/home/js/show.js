// The show of the home: prepared sentences are typed and translated in a loop, until somebody presses anything.

import { readPayload, Translation } from "../../../components/explorer/js/data/data.js";
import { still } from "../../../components/explorer/js/draw/transition.js";
import { readBytes } from "../../js/packed.js";

const [FADE, LETTER, READ, WORD, REST] = [320, 20, 400, 390, 1300]; // milliseconds
const AWAY = 300; // between two looks whether anybody sees it

/** @typedef {import("./stage.js").Stage} Stage
 * @typedef {{ text: string, words: FlowWord[] }} Prepared
 */

export class Show {
  runs = 0; // a newer number ends what runs

  /**
   * @param {Stage} stage
   * @param {Prepared[]} sentences
   * @param {(text: string) => void} tell
   */
  constructor(stage, sentences, tell) {
    this.stage = stage;
    this.sentences = sentences;
    this.tell = tell;
  }

  /**
   * Whether a run goes on, some time later; out of sight it waits.
   * @param {number} run
   * @param {number} milliseconds
   */
  async wait(run, milliseconds) {
    const rest = (/** @type {number} */ time) => new Promise((resolve) => setTimeout(resolve, time));
    const unseen = () => document.hidden || this.stage.root.getBoundingClientRect().bottom < 0;
    await rest(milliseconds);
    while (run === this.runs && unseen()) await rest(AWAY);
    return run === this.runs;
  }

  /** Begins with the first sentence; where nothing may move, that is all. */
  async begin() {
    const run = ++this.runs;
    for (let index = 0; run === this.runs; index = (index + 1) % this.sentences.length) {
      const { text, words } = this.sentences[index];
      const translation = new Translation(readPayload(await readBytes(`s${index}`)));
      if (run !== this.runs) return;
      this.tell(text);
      if (still()) {
        this.stage.show({ translation, words, step: translation.length, chosen: null, typed: Infinity, plays: false });
        return;
      }
      if (!(await this.type(run, text, { translation, words, step: 0, chosen: null, plays: false, typed: 0 }))) return;
      if (!(await this.light(run, translation.length, true))) return;
    }
  }

  /**
   * @param {number} run
   * @param {string} text
   * @param {import("./stage.js").Frame} frame
   */
  async type(run, text, frame) {
    this.stage.show({ ...frame, typed: 0 });
    if (!(await this.wait(run, FADE))) return false;
    for (let typed = 1; typed <= text.length; typed++) {
      this.stage.show({ ...frame, typed });
      if (!(await this.wait(run, LETTER))) return false;
    }
    this.stage.show({ ...frame, typed: Infinity, plays: true });
    return this.wait(run, READ);
  }

  /**
   * Lights one word after the other, then all.
   * @param {number} run
   * @param {number} length
   * @param {boolean} writes Whether they come with the light.
   */
  async light(run, length, writes) {
    for (let chosen = 0; chosen < length; chosen++) {
      this.stage.show({ chosen, plays: true, ...(writes ? { step: chosen + 1 } : {}) });
      if (!(await this.wait(run, WORD))) return false;
    }
    this.stage.rest();
    return this.wait(run, REST);
  }

  /** Ends what runs; what is there stays, and what is missing comes at once. */
  stop() {
    this.runs++;
  }
}
