// Before the class: the code to join, the question, and what the class answers, as it comes in.

import { instanceAt } from "../../components/common/component.js";
import { h, setAttribute } from "../../components/common/page/dom.js";
import { code, showCode } from "../../components/common/page/qr_screen.js";
import { fillText } from "../../components/common/text/format.js";
import { ClassClient } from "./client.js";
import { Poll } from "./poll.js";

const PAUSE = 1000; // milliseconds

class Board {
  /** @type {BoardData} */
  data;
  /** @type {ClassClient | null} */
  client = null;
  /** @type {ClassView | null} */
  view = null;
  shows = false; // whether the bars are seen while answers come in

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.join = h("div", { class: "board-join" });
    this.question = h("section", { "aria-live": "off" });
    this.said = h("p", { class: "board-said", role: "status" });
    this.close = this.control("closed");
    this.reveal = this.control("revealed");
    this.reopen = this.control("open");
    this.hide = h("button", { click: () => this.toggle() });
    const controls = h("div", { class: "board-controls" }, this.close, this.reveal, this.reopen, this.hide);
    root.append(this.join, h("div", { class: "board-poll" }, this.said, this.question, controls));
  }

  /** @param {"open" | "closed" | "revealed"} state */
  control(state) {
    return h("button", { hidden: true, click: () => this.client?.send("control", { state }) });
  }

  /** @param {BoardData} data */
  receive(data) {
    const isNew = data.address !== this.data?.address || data.language !== this.data.language;
    this.data = data;
    const { texts, share } = data;
    setAttribute(this.root, "lang", data.language);
    const open = this.root.querySelectorAll("dialog");
    const picture = share.rows && !share.command ? code(share.rows, share.texts.code) : "";
    this.join.replaceChildren(
      picture,
      h("p", { class: "board-code" }, data.code),
      share.command ? h("p", {}, texts.unreachable) : h("p", { class: "board-address" }, share.url),
      h("button", { click: () => showCode(this.join, share) }, share.texts.fill),
      ...open,
    );
    for (const [button, label] of /** @type {[HTMLElement, string][]} */ ([
      [this.close, texts.close],
      [this.reveal, texts.reveal],
      [this.reopen, texts.reopen],
    ]))
      button.textContent = label;
    if (!isNew) return this.draw();
    this.client?.stop();
    this.poll = new Poll(this.question, texts, null);
    const address = new URL(data.address, window.location.href).href;
    this.client = new ClassClient(
      address,
      data.language,
      PAUSE,
      (view) => this.show(view),
      (reason) => this.say(texts[`refused_${reason}`] ?? texts.refused_offline),
    );
  }

  /** @param {ClassView} view */
  show(view) {
    if (view.poll !== this.view?.poll) this.shows = false;
    this.view = view;
    this.draw();
  }

  draw() {
    const { view, data } = this;
    if (!view) return;
    const { texts } = data;
    const hidden = !this.shows && view.state === "open";
    this.poll?.show({ ...view, counts: hidden ? [] : view.counts });
    this.question.classList.toggle("board-hidden", hidden);
    const { answers, students } = view;
    this.say(fillText(view.poll ? texts.board_answers : texts.board_students, { answers, students }));
    this.close.hidden = view.poll === 0 || view.state !== "open";
    this.reveal.hidden = view.poll === 0 || view.state !== "closed";
    this.reopen.hidden = this.reveal.hidden;
    this.hide.hidden = this.close.hidden;
    this.hide.textContent = this.shows ? texts.hide_bars : texts.show_bars;
  }

  toggle() {
    this.shows = !this.shows;
    this.draw();
  }

  /** @param {string} text */
  say(text) {
    if (this.said.textContent !== text) this.said.textContent = text;
  }

  stop() {
    this.client?.stop();
  }
}

/** @param {Mounted<BoardData>} component */
export default function mount({ data, parentElement }) {
  const { instance, unmount } = instanceAt(parentElement, "board", (root) => new Board(root));
  instance.receive(data);
  return unmount;
}
