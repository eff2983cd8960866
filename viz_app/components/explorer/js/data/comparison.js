// What is compared: a pinned head, A, of this or another translation, with the head that is selected, B.

import { headAddress, parseHead } from "../../../common/heads/heads.js";

const LONGEST = 500; // characters of a sentence that a link carries
const NONE = { against: null, vs: null, vsmodel: null, vsbranch: 0 };

export class Comparison {
  /** @type {Translation} Of B. */
  translation;
  /** @type {Translation | null} Of A; null while Python has not sent it. */
  pinned = null;
  /** @type {string | null} B, where nobody has chosen it: the head beside A. */
  beside = null;

  /** @param {Store} store */
  constructor(store) {
    this.store = store;
  }

  /**
   * Takes over a new translation, and the one to compare with when Python has sent it along.
   * @param {Translation} translation
   * @param {Translation | null} other
   */
  receive(translation, other) {
    const before = this.translation?.about?.own;
    const another = this.translation?.about?.text !== translation.about?.text;
    this.translation = translation;
    const { state } = this.store;
    const { about } = translation;
    if (before !== undefined && before !== about?.own) this.changeModel(before);
    if (another) this.goBack(); // one head in two sentences
    const fits =
      other?.about &&
      about &&
      other.about.model === (state.vsmodel ?? about.own) &&
      other.about.text === (state.vs ?? about.text);
    if (fits && other.id !== this.pinned?.id) this.pinned = other;
    // A link to a comparison within one sentence: from now on that sentence is pinned.
    if (!this.pinned && state.against && !state.vsmodel && (state.vs === null || state.vs === about?.text)) this.hold();
  }

  /**
   * Another model is shown now: a comparison within the model follows it; one with this very model changes sides.
   * @param {string} before
   */
  changeModel(before) {
    const { against, vsmodel } = this.store.state;
    if (against === null) return;
    this.pinned = null;
    if (vsmodel === null) this.store.set({ vsbranch: 0 });
    else if (vsmodel === this.translation.about?.own) this.store.set({ vsmodel: before, vsbranch: 0 });
  }

  /** Pins the translation. */
  hold() {
    const { translation } = this;
    const text = translation.about?.text ?? "";
    this.pinned = translation;
    this.store.set({
      vs: text && text.length <= LONGEST ? text : null,
      vsbranch: translation.beam?.shown ?? 0,
      vsmodel: null,
    });
  }

  /**
   * Pins the selected head; with a model, as that model has it.
   * @param {string | null} [vsmodel]
   */
  pin(vsmodel = null) {
    const { kind, layer, head } = this.store.state;
    /** @type {Partial<State>} */
    const against = { against: headAddress({ kind, layer, head }), zoom: "head" };
    if (!vsmodel) this.hold();
    else this.pinned = null;
    this.store.set(vsmodel ? { ...NONE, ...against, vsmodel } : { ...against, ...this.next() });
    this.beside = vsmodel ? null : headAddress(this.store.state);
  }

  /** The head after the selected one, in the order of layers. */
  next() {
    const { kind, layer, head } = this.store.state;
    const view = this.translation.view(kind, "tokens", this.translation.length);
    const heads = view.present([...Array(view.layers).keys()]);
    const at = heads.findIndex((place) => place[0] === layer && place[1] === head);
    const [next, number] = heads[(at + 1) % heads.length];
    return { layer: next, head: number };
  }

  /** Whether nobody has chosen B. */
  isBeside() {
    return this.store.state.against !== null && this.beside === headAddress(this.store.state);
  }

  /** Selects A again, if nobody has chosen B. */
  goBack() {
    if (this.isBeside()) this.store.set(parseHead(this.store.state.against ?? ""));
    this.beside = null;
  }

  /** Ends the comparison; says whether there was one. */
  release() {
    if (this.store.state.against === null) return false;
    this.goBack();
    this.pinned = null;
    this.store.set({ ...NONE });
    return true;
  }

  /**
   * The pinned head; of the same translation as it stands at this step, of another one complete.
   * @param {Pick<State, "against" | "unit">} state
   * @param {number} step
   */
  matrix({ against, unit }, step) {
    const { pinned } = this;
    if (!pinned || against === null) return null;
    const { kind, layer, head } = parseHead(against);
    const shape = pinned.kinds[kind];
    const view = pinned.view(kind, unit, pinned.id === this.translation.id ? step : pinned.length);
    return view.matrix(Math.min(layer, shape.layers - 1), Math.min(head, shape.heads - 1));
  }

  /**
   * What the page calls a model: its languages, if it has such a title.
   * @param {string} name
   */
  modelTitle(name) {
    return this.translation.about?.titles?.[name] ?? name;
  }
}
