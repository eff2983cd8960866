// Findings that the reader pinned: pictures of a scene as it stood, beside each other, each with the way back to it.
// The browser keeps what they say (localStorage), and their pictures go with the stage.

import { h } from "../../../components/common/page/dom.js";
import { linkTo } from "./address.js";

const MAX = 4;
const MAX_KEPT = 50_000; // letters of all of them
const KINDS = ["boolean", "number", "string"];
const KEPT = "headlight-findings-"; // in localStorage, with the name of the lesson

export class Findings {
  /** @type {Map<Element, Finding>} By their cards. */
  pinned = new Map();

  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    this.element = h("section", { class: "findings", hidden: true });
  }

  /** Pins the picture as it stands; the oldest one gives way. */
  pin() {
    const { lesson } = this;
    const { title } = lesson.description;
    const picture = h("canvas", { role: "img", "aria-label": title });
    lesson.tools.compose(picture);
    const { searchParams } = new URL(location.href);
    const [text, model] = ["text", "model"].map((name) => searchParams.get(name) ?? "");
    const card = this.add({ ...lesson.state(), title, said: lesson.readout.textContent ?? "", text, model }, picture);
    this.changed();
    card.scrollIntoView({ block: "nearest" });
  }

  /** Restores what this browser kept: earlier findings, without their pictures. */
  restore() {
    for (const finding of keptFindings(KEPT + this.lesson.lesson.name)) {
      const title = h("p", { class: "finding-title" }, finding.title);
      this.add(finding, h("div", {}, title, h("p", { class: "note" }, this.lesson.texts.finding_no_picture)));
    }
    this.update();
  }

  /**
   * @param {Finding} finding
   * @param {HTMLElement} picture
   */
  add(finding, picture) {
    const { texts, lesson } = this.lesson;
    const link = h("a", { class: "tool", href: linkToFinding(lesson, finding) }, texts.finding_open);
    const remove = h("button", { class: "tool", type: "button" }, texts.finding_remove);
    const said = h("figcaption", {}, finding.said);
    const card = h("figure", {}, picture, said, h("div", { class: "tools" }, link, remove));
    remove.addEventListener("click", () => {
      this.drop(card);
      this.changed();
    });
    this.element.append(card);
    this.pinned.set(card, finding);
    for (const old of [...this.pinned.keys()].slice(0, -MAX)) this.drop(old);
    return card;
  }

  /** @param {Element} card */
  drop(card) {
    card.remove();
    this.pinned.delete(card);
  }

  changed() {
    this.update();
    try {
      localStorage.setItem(KEPT + this.lesson.lesson.name, JSON.stringify([...this.pinned.values()]));
    } catch {} // a full or closed storage: they stay until the stage goes
  }

  update() {
    const { element, lesson } = this;
    element.hidden = element.children.length === 0;
    element.setAttribute("aria-label", lesson.texts?.findings ?? "");
  }
}

/** @param {any} kept Other pages of the same host may have written it. */
function isFinding(kept) {
  const words = ["scene", "title", "said", "text", "model"].map((name) => kept?.[name]);
  const settings = Object.values(kept?.settings ?? {});
  return words.every((each) => typeof each === "string") && settings.every((each) => KINDS.includes(typeof each));
}

/**
 * @param {string} key
 * @returns {Finding[]} None where nothing is kept, or nothing can be.
 */
function keptFindings(key) {
  try {
    const kept = localStorage.getItem(key) ?? "[]";
    const findings = kept.length > MAX_KEPT ? [] : JSON.parse(kept);
    return Array.isArray(findings) ? findings.filter(isFinding).slice(-MAX) : [];
  } catch {
    return [];
  }
}

/**
 * The address of a finding. Not that of the page with other values: it may still be that of the page before.
 * @param {LessonData} lesson
 * @param {Finding} finding
 */
function linkToFinding({ name, language }, finding) {
  const page = new URL(location.pathname, location.origin);
  const named = { lang: language, lesson: name === "lab" ? "" : name, text: finding.text, model: finding.model };
  for (const [key, value] of Object.entries(named)) if (value) page.searchParams.set(key, value);
  return linkTo(page.href, finding);
}
