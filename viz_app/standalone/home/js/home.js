// The home of the site: the show, and the visitor's turn, which is translated in the page.

import { fillText } from "../../../components/common/text/format.js";
import { readPayload, Translation } from "../../../components/explorer/js/data/data.js";
import { DraftTranslation } from "../../../components/explorer/js/data/draft.js";
import { still } from "../../../components/explorer/js/draw/transition.js";
import { LiveClient } from "../../js/live_client.js";
import { readJson } from "../../js/packed.js";
import { noteSentence } from "../../js/sentence_note.js";
import { Show } from "./show.js";
import { Stage } from "./stage.js";

const REST = 60; // milliseconds after a key; a newer text also ends the search for an older one

/** @typedef {{ page: string, url: string, size: number, title: string }} Model
 * @typedef {{ sentences: import("./show.js").Prepared[], models: Model[], texts: import("./stage.js").StageTexts & Record<"play" | "stop" | "loading" | "unloaded", string> }} About
 */

/**
 * @template {Element} T
 * @param {string} selector
 */
const one = (selector) => /** @type {T} */ (document.querySelector(selector));

class Home {
  timer = 0;
  model = 0;
  text = ""; // on the stage
  /** @type {LiveClient[]} */
  clients = [];
  /** @type {DraftTranslation | null} */
  draft = null;
  playing = false;

  constructor() {
    /** @type {About} */
    const about = readJson("page");
    this.about = about;
    /** @type {HTMLInputElement} */
    this.field = one(".turn-text");
    /** @type {HTMLElement} */
    this.note = one(".turn-note");
    /** @type {HTMLElement} */
    this.loading = one(".turn-loading");
    /** @type {HTMLProgressElement} */
    this.bar = one(".turn-loading progress");
    /** @type {HTMLElement} */
    this.spoken = one(".turn-spoken");
    /** @type {HTMLAnchorElement} */
    this.way = one(".turn-open");
    /** @type {HTMLButtonElement} */
    this.button = one(".show-button");
    this.stage = new Stage(one(".stage"), about.texts, (head) => this.address(head));
    this.show = new Show(this.stage, about.sentences, (text) => this.name(text));
    this.field.addEventListener("input", () => this.type());
    for (const choice of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll(".turn [name=model]")))
      choice.addEventListener("change", () => this.choose(Number(choice.value)));
    this.button.addEventListener("click", () => (this.playing ? this.stop() : this.play()));
    for (const event of ["keydown", "pointerdown"])
      addEventListener(event, ({ target }) => target !== this.button && this.stop(), { capture: true });
    if (this.field.value) this.type();
    else this.play();
  }

  play() {
    if (!still()) this.setPlaying(true);
    this.show.begin();
  }

  /** Ends the loop, with all of its sentence. */
  stop() {
    this.show.stop();
    if (!this.playing) return;
    this.setPlaying(false);
    this.stage.rest();
  }

  /** @param {boolean} playing */
  setPlaying(playing) {
    const { play, stop } = this.about.texts;
    this.playing = playing;
    this.button.hidden = false;
    this.button.classList.toggle("plays", playing);
    this.button.ariaLabel = this.button.title = playing ? stop : play;
  }

  /**
   * The page that opens the sentence, at a head.
   * @param {string} [head]
   */
  address(head) {
    const of = this.playing ? 0 : this.model; // the show is of the first
    const params = new URLSearchParams({ text: this.text, ...(head ? { head } : {}) });
    return `${this.about.models[of].page}#${params}`;
  }

  /** @param {string} text That is on the stage now. */
  name(text) {
    this.text = text;
    this.way.href = this.address();
  }

  get client() {
    const { model, about, note, bar } = this;
    const { url, size } = about.models[model];
    this.clients[model] ??= new LiveClient(
      url,
      {
        stage: (stage, reason) => {
          note.textContent = reason && fillText(about.texts.unloaded, { reason });
          bar.max = size;
          this.loading.hidden = stage !== "loading";
        },
        loaded: (bytes) => {
          bar.value = bytes;
        },
        draft: (draft) => this.take(draft),
        failed: (reason) => {
          note.textContent = reason;
        },
      },
      `live${model}`,
    );
    return this.clients[model];
  }

  /** @param {number} model */
  choose(model) {
    this.model = model;
    if (this.field.value.trim()) this.say();
    else this.way.href = this.address();
  }

  type() {
    this.stop();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.say(), REST);
  }

  /** Translates what is typed, then lights its words. */
  async say() {
    const { client, field, stage } = this;
    const text = field.value;
    this.show.stop();
    const answer = await client.ask({ do: "translate", text });
    if (!answer) return;
    noteSentence(this.note, answer, client.live);
    if (!answer.payload) return;
    this.name(text);
    this.spoken.textContent = answer.translation;
    const translation = new Translation(readPayload(answer.payload));
    const { length } = translation;
    this.draft = null;
    const words = Array.from({ length }, () => null);
    stage.show({ translation, words, step: length, chosen: null, typed: Infinity, plays: false });
    const made = await client.ask({ do: "flow", text, branch: 0, at: null, against: null });
    if (!made?.flow) return;
    stage.show({ words: made.flow.words });
    if (!still()) this.show.light(++this.show.runs, length, false);
  }

  /** @param {Draft | null} draft What a search has so far. */
  take(draft) {
    const { stage } = this;
    if (!draft || !stage.frame) return;
    if (!this.draft?.continues(draft)) {
      if (draft.from) return; // its beginning went by
      this.draft = new DraftTranslation(stage.frame.translation, draft);
    }
    this.draft.take(draft);
    const step = this.draft.written ?? 0;
    stage.show({
      translation: this.draft,
      words: Array.from({ length: step }, () => null),
      step,
      chosen: null,
      typed: Infinity,
      plays: false,
    });
  }
}

export default function start() {
  Object.assign(one(".stage"), { home: new Home() });
}
