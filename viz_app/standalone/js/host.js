// A page that mounts a component in the place of Streamlit.

import { h } from "../../components/common/page/dom.js";
import { Missing, readJson } from "./packed.js";

export class Host {
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
   * Runs something, again whenever the reader's system turns light or dark; says why where that fails.
   * @param {() => Promise<void>} show
   */
  run(show) {
    /** @type {{ failed: string, missing: string }} */
    const { failed, missing } = readJson("page");
    /** @param {unknown} error */
    const complain = (error) => {
      this.note.textContent = error instanceof Missing ? missing : failed;
      throw error;
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show().catch(complain));
    return show().catch(complain);
  }
}
