// A page that mounts a component in the place of Streamlit.

import { h } from "../../components/common/page/dom.js";
import { Missing, readJson } from "./packed.js";

export class Host {
  /** @type {() => Promise<void>} */
  again;

  /**
   * @param {string} name Class of the component's element.
   * @param {(name: string, value: any) => void} report Answers what the component tells.
   */
  constructor(name, report) {
    this.note = /** @type {HTMLElement} */ (document.querySelector(".page-note"));
    const place = /** @type {HTMLElement} */ (document.querySelector("main")).attachShadow({ mode: "open" });
    place.append(h("div", { class: name }));
    const parentElement = /** @type {HTMLElement} */ (/** @type {unknown} */ (place));
    this.component = { parentElement, setStateValue: report, setTriggerValue: () => {} };
  }

  /**
   * Shows something, again whenever the page turns light or dark; says why where that fails.
   * @param {() => Promise<void>} show
   */
  run(show) {
    const { failed } = readJson("page");
    let complaint = "";
    this.again = async () => {
      if (complaint) this.note.textContent = complaint = "";
      await show().catch((/** @type {unknown} */ error) => {
        this.note.textContent = complaint = error instanceof Missing ? error.message : failed;
        throw error;
      });
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.again());
    addEventListener("headlight-theme", () => this.again());
    return this.again();
  }
}
