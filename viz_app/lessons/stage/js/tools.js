// The menu Export of a picture: its numbers, the picture as a file, a film of it, its link and code; the presenter's view.

import { drawnAsSvg } from "../../../components/common/draw/svgcontext.js";
import { h, setAttribute } from "../../../components/common/page/dom.js";
import { showCode } from "../../../components/common/page/qr_screen.js";
import { composePage, download, Film, startPage } from "../../../components/common/page/recording.js";
import { tool } from "../../../components/common/page/tool.js";
import { confirmCopy } from "../../../components/common/text/copy.js";
import { fillText } from "../../../components/common/text/format.js";
import { linkTo } from "./address.js";
import { showTable } from "./table.js";

const HEAD = 34; // height of the title above the picture, in CSS pixels

export class Tools {
  /** @type {Texts} */
  texts;

  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    this.tableShown = false;
    this.film = new Film({
      begin: () => this.startFilm(),
      compose: (page) => this.compose(page),
      isOver: () => !lesson.stage.playing,
      changed: () => this.update(),
    });
    this.table = tool("table", { "aria-expanded": "false", click: () => this.showTable() });
    this.images = [
      { format: "PNG", ...tool("image", { click: () => this.save() }) },
      { format: "SVG", ...tool("image", { click: () => this.saveVector() }) },
    ];
    this.pin = tool("finding", { hidden: true, click: () => lesson.findings.pin() });
    this.link = tool("link", { click: () => this.copy() });
    this.code = tool("qr", { click: () => this.showCode() });
    this.qr = tool("qr", { hidden: true, click: () => this.showCode() });
    this.present = tool("present", { click: () => lesson.present() });
    const items = [this.table, ...this.images, ...this.film.tools, this.link, this.code];
    const buttons = items.map(({ button }) => button);
    this.items = h("div", { class: "export-items", hidden: true, click: (event) => this.picked(event) }, ...buttons);
    this.export = tool("download", {
      "aria-haspopup": "true",
      "aria-expanded": "false",
      click: () => (this.film.running ? this.film.stop() : this.open(Boolean(this.items.hidden))),
    });
    const menu = h("div", { class: "export-menu", keydown: (event) => this.escape(event) });
    menu.append(this.export.button, this.items);
    this.element = h("div", { class: "tools" }, menu, this.pin.button);
    /** @param {Event} event */
    this.outside = (event) => event.composedPath().includes(menu) || this.open(false);
  }

  /** @param {boolean} open */
  open(open) {
    this.items.hidden = !open;
    setAttribute(this.export.button, "aria-expanded", open);
    document[open ? "addEventListener" : "removeEventListener"]("pointerdown", this.outside);
  }

  /** @param {Event} event Of an item; Link stays in sight, since it says that the link is copied. */
  picked(event) {
    if (!event.composedPath().includes(this.link.button)) this.open(false);
  }

  /** @param {KeyboardEvent} event */
  escape(event) {
    if (event.key !== "Escape" || this.items.hidden) return;
    event.stopPropagation(); // it means nothing else then
    this.open(false);
    this.export.button.focus();
  }

  /** @param {Texts} texts */
  label(texts) {
    this.texts = texts;
    this.table.words.textContent = texts.table;
    for (const { format, words } of this.images) words.textContent = fillText(texts.image, { format });
    this.pin.words.textContent = texts.finding_pin;
    this.link.words.textContent = texts.link;
    for (const { words } of [this.code, this.qr]) words.textContent = texts.qr;
    this.update();
  }

  update() {
    const { texts, film, lesson } = this;
    if (!texts) return;
    film.label(texts.film, texts.film_stop, Boolean(lesson.scene?.playhead));
    this.export.words.textContent = film.running ? texts.film_stop : texts.export;
    this.pin.button.hidden = !lesson.scene?.pinnable;
    this.link.button.hidden = location.protocol === "file:"; // which has no address that others could open
    this.code.button.hidden = !lesson.share;
    this.qr.button.hidden = !lesson.presenting || !lesson.share;
    this.present.words.textContent = lesson.presenting ? texts.present_end : texts.present;
    for (const { button, words } of [this.present, this.qr]) button.title = words.textContent ?? ""; // a phone hides them
    setAttribute(this.table.button, "aria-expanded", this.tableShown);
  }

  showTable() {
    this.tableShown = !this.tableShown;
    this.update();
    this.lesson.tabulate();
    if (this.tableShown) showTable(this.lesson.numbers);
  }

  /**
   * The picture as it stands below its title.
   * @param {HTMLCanvasElement} page
   */
  compose(page) {
    composePage(page, this.lesson.stage, this.lesson.theme, HEAD, this.lines);
  }

  get lines() {
    const { theme, description } = this.lesson;
    return [{ text: description.title, font: "600 15px", colour: theme.text, baseline: 22 }];
  }

  /** Films the way of the playhead. */
  startFilm() {
    const { lesson, film } = this;
    const { playhead } = lesson.scene;
    if (!playhead) return;
    lesson.set({ [playhead.name]: playhead.min });
    lesson.stage.play();
    film.start(lesson.fileName);
  }

  save() {
    const page = h("canvas");
    this.compose(page);
    page.toBlob((blob) => blob && download(blob, `${this.lesson.fileName}.png`));
  }

  saveVector() {
    download(new Blob([this.vector()], { type: "image/svg+xml" }), `${this.lesson.fileName}.svg`);
  }

  /** Return the same as SVG, which stays sharp at every size. */
  vector() {
    const { stage, theme, lesson } = this.lesson;
    return drawnAsSvg((context) => {
      startPage(context, stage, 1, theme, HEAD, this.lines);
      stage.drawOn(context);
    }, lesson.language);
  }

  copy() {
    // From the screen: Python sets the address bar a moment later, and not at all while the figure plays.
    const link = linkTo(location.href, this.lesson.state());
    const { link: copy, link_copied: copied, link_failed } = this.texts;
    confirmCopy(link, { copy, copied, copy_failed: link_failed }, this.link.button, this.link.words);
  }

  /** The QR code of the link over the whole screen. */
  showCode() {
    if (this.lesson.share) showCode(this.lesson.root, this.lesson.share);
  }

  stop() {
    this.open(false);
    this.film.stop();
  }
}
