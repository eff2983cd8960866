// The QR code of a link, and the button that fills the screen with it.

import { h, setAttribute } from "../../common/page/dom.js";
import { code, showCode } from "../../common/page/qr_screen.js";

/** @param {Mounted<ShareCode>} component */
export default function show({ data, parentElement }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".share-code"));
  setAttribute(root, "lang", data.language);
  const picture = data.rows && !data.command ? code(data.rows, data.texts.code) : "";
  const fill = h("button", { click: () => showCode(root, data) }, data.texts.fill);
  // A screen that is filled stays so when the page behind it is drawn anew.
  const open = root.querySelectorAll("dialog");
  root.replaceChildren(picture, fill, ...open);
}
