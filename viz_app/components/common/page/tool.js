// Buttons of a picture: an icon and words. Their look is in tool.css.

import { h, svg } from "./dom.js";

const ICONS = {
  table: "M3 5h18v14H3zM3 10h18M3 14.5h18M9 10v9",
  image: "M3 5h18v14H3zM5 17l5-6 4 4 2-2 3 4M16 9h.01",
  film: "M3 6h12v12H3zM15 11l6-4v10l-6-4",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  qr: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM18 14h2M14 18v2",
  beam: "M3 12h5l4-6h9M8 12l4 6h9",
  compare: "M3 5h7v14H3zM14 5h7v14h-7z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  finding: "M9 3h6M10 3v7l-3 4h10l-3-4V3M12 14v7",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  views: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  present: "M3 4h18v12H3zM12 16v4M8 20h8",
};

/**
 * A button with an icon and words.
 * @param {keyof typeof ICONS} name
 * @param {Attributes} attributes
 */
export function tool(name, attributes) {
  const icon = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
  const words = h("span");
  return { words, button: h("button", { class: `tool ${name}`, ...attributes }, icon, words) };
}
