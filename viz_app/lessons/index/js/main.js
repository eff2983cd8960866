// The index of the lessons: the figure beside the route.

import { isDark } from "../../../components/common/draw/theme.js";
import { h, setAttribute } from "../../../components/common/page/dom.js";
import { eventId } from "../../../components/common/page/events.js";
import { fillText } from "../../../components/common/text/format.js";
import { diagram } from "./diagram.js";

/**
 * @typedef {{ name: string, title: string, about: string, minutes?: number, stations: string[], opened?: boolean }} Stop
 * @typedef {object} IndexData What Python sends.
 * @property {Stop[]} route
 * @property {[string, Stop[]][]} others Lessons beside the route, by chapter.
 * @property {string} language
 * @property {IndexTexts} texts
 * @property {string} sentence
 * @property {{ light: Record<Kind, string>, dark: Record<Kind, string> }} kinds
 */

/** @param {Mounted<IndexData>} component */
export default function show({ data, parentElement, setStateValue }) {
  const root = /** @type {any} */ (parentElement).querySelector(".index");
  /** @param {string} name */
  const open = (name) => setStateValue("open", { name, id: eventId() });
  const all = [...data.route, ...data.others.flatMap(([, stops]) => stops)];
  const atStation = Object.fromEntries(all.flatMap((each) => each.stations.map((station) => [station, each])));
  setAttribute(root, "lang", data.language);
  colour(root, data.kinds);
  const { texts } = data;
  const total = data.route.reduce((sum, { minutes }) => sum + (minutes ?? 0), 0);
  const route = h("ol", { class: "route" }, ...data.route.map((each) => h("li", {}, stop(each, texts, open))));
  const first = h("button", { class: "start", click: () => open("on") }, texts.start);
  const side = h(
    "div",
    { class: "side" },
    h("h2", {}, `${texts.route} (${fillText(texts.minutes, { minutes: total })})`),
    first,
    h("button", { class: "short", click: () => open("short") }, texts.start_short),
    route,
  );
  for (const [chapter, stops] of data.others) {
    side.append(
      h("h2", {}, chapter),
      h("ul", { class: "others" }, ...stops.map((each) => h("li", {}, stop(each, texts, open)))),
    );
  }
  const figure = h("figure", {}, diagram(data, atStation, open), h("figcaption", {}, texts.caption));
  root.replaceChildren(figure, side);
}

/**
 * @param {Stop} stop
 * @param {IndexTexts} texts
 * @param {(lesson: string) => void} open
 */
function stop({ name, title, about, minutes, opened }, texts, open) {
  const time = minutes ? h("span", { class: "minutes" }, fillText(texts.minutes, { minutes })) : null;
  const mark = opened ? h("span", { class: "opened" }, ` \u2713 ${texts.opened}`) : null;
  const words = [h("span", { class: "title" }, title, mark), time, h("span", { class: "about" }, about)];
  return name
    ? h("button", { class: "stop", click: () => open(name) }, ...words)
    : h("div", { class: "stop" }, ...words);
}

/**
 * The colours of the kinds in the theme of the page.
 * @param {HTMLElement} root
 * @param {IndexData["kinds"]} kinds
 */
function colour(root, kinds) {
  const paper = getComputedStyle(root).getPropertyValue("--st-background-color").trim() || "#ffffff";
  for (const [kind, value] of Object.entries(kinds[isDark(paper) ? "dark" : "light"]))
    root.style.setProperty(`--${kind}`, value);
}
