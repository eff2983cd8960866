// Every page of a site: the reader's language and theme, and a browser that keeps it for the next visit.

import { keep, readKept } from "../../components/common/page/device.js";
import { setAttribute } from "../../components/common/page/dom.js";
import { showProgress } from "./shown_progress.js";

const THEMES = ["system", "light", "dark"];

export default function start() {
  const language = String(readKept("language") ?? navigator.language).slice(0, 2);
  const start = document.querySelector(`[data-choice] [lang="${CSS.escape(language)}"]`);
  if (start instanceof HTMLAnchorElement) return location.replace(start.href);
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll(".site-languages a")))
    link.addEventListener("click", () => {
      keep("language", link.lang);
      link.href = link.href.split(/[?#]/, 1)[0] + location.search + location.hash; // the same sentence, the same scene
    });
  const theme = document.querySelector(".site-theme");
  if (theme instanceof HTMLButtonElement) offerThemes(theme);
  addEventListener("click", ({ target }) => {
    for (const menu of openMenus()) if (!(target instanceof Node && menu.contains(target))) menu.open = false;
  });
  addEventListener("keydown", ({ key }) => {
    for (const menu of key === "Escape" ? openMenus() : []) {
      menu.open = false;
      menu.querySelector("summary")?.focus();
    }
  });
  showProgress();
  addEventListener("pageshow", ({ persisted }) => persisted && catchUp());
  addEventListener("storage", catchUp);
  keepPages().catch(() => {}); // the browser keeps nothing, as in another site's frame
}

/** Keeps this page and the next on the route; all pages where the reader asks for them. */
async function keepPages() {
  const { connection, serviceWorker } = /** @type {any} */ (navigator); // no service worker without TLS
  if (connection?.saveData || !serviceWorker) return;
  await serviceWorker.register(new URL("../service-worker.js", import.meta.url));
  const { active } = await serviceWorker.ready;
  const next = document.querySelector("a[rel=next], .routes li a");
  const root = new URL("..", import.meta.url).href;
  const addresses = [root, location.href, next instanceof HTMLAnchorElement ? next.href : root];
  const keep = addresses.map((each) =>
    each
      .replace(root, "")
      .split(/[?#]/, 1)[0]
      .replace(/(^|\/)$/, "$1index.html"),
  );
  active?.postMessage({ keep });
  const button = document.querySelector(".site-keep");
  if (!(button instanceof HTMLButtonElement)) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    button.disabled = true;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => {
      button.disabled = data;
      button.textContent = button.dataset[data ? "kept" : "failed"] ?? "";
    };
    active?.postMessage({}, [port2]);
  });
}

/** Takes over what another page has changed, in another tab or before the reader went back to this one. */
function catchUp() {
  const theme = String(readKept("theme"));
  if (THEMES.includes(theme) && theme !== themeNow()) setTheme(theme);
  showProgress();
}

const themeNow = () => document.documentElement.getAttribute("data-theme") ?? THEMES[0];

/** @param {string} theme */
function setTheme(theme) {
  setAttribute(document.documentElement, "data-theme", theme === THEMES[0] ? null : theme);
  dispatchEvent(new Event("headlight-theme"));
}

function openMenus() {
  return /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll(".site-nav details[open]"));
}

/** @param {HTMLButtonElement} button Goes round the themes; its data say how each is called. */
function offerThemes(button) {
  const show = () => {
    button.ariaLabel = button.title = button.dataset[themeNow()] ?? "";
  };
  button.addEventListener("click", () => {
    const next = THEMES[(THEMES.indexOf(themeNow()) + 1) % THEMES.length];
    keep("theme", next);
    setTheme(next);
  });
  addEventListener("headlight-theme", show);
  show();
}
