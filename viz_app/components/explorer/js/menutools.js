// The tools of the menu: copy, share, download, present, the beam search, other views.

import { eventId } from "../../common/page/events.js";
import { isPresenting } from "../../common/page/presenting.js";
import { tool } from "../../common/page/tool.js";
import { confirmCopy } from "../../common/text/copy.js";

const PYTHONS = /** @type {const} */ (["download", "views"]); // tools that Python has

export class MenuTools {
  /** @type {(event: { name: string, id: number }) => void} Asks Python. */
  report;

  /** @param {import("./explorer.js").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.present = tool("present", { click: () => explorer.present(!isPresenting(explorer.root)) });
    this.share = tool("qr", { click: () => this.shareLink() });
    this.pythons = PYTHONS.map((name) => tool(name, { click: () => this.ask(name) }));
    const [download, views] = this.pythons;
    const all = [explorer.words.copy, this.share, download, this.present, explorer.beam, views];
    this.buttons = all.map(({ button }) => button);
  }

  /** Whether Python answers. */
  get isInApp() {
    const { about } = this.explorer.translation;
    return Boolean(about && !about.answers);
  }

  label() {
    const { texts, translation, root } = this.explorer;
    this.present.words.textContent = isPresenting(root) ? texts.present_end : texts.present;
    this.share.words.textContent = texts.share;
    this.share.button.hidden = !translation.about || location.protocol === "file:";
    this.pythons.forEach(({ button, words }, at) => {
      words.textContent = texts[PYTHONS[at]];
      button.hidden = !this.isInApp;
    });
  }

  /** The link, with its code in the app. */
  shareLink() {
    const { texts } = this.explorer;
    const { button, words } = this.share;
    if (this.isInApp) return this.ask("share");
    return confirmCopy(location.href, { ...texts, copy: texts.share }, button, words);
  }

  /** @param {string} name */
  ask(name) {
    this.explorer.menu.close();
    this.report({ name, id: eventId() });
  }
}
