// The buttons of a picture: its numbers, the picture as a file, a film of it, the link; and the presenter's view.

import { h, setAttribute, svg } from "../../../components/common/dom.js";
import { showCode } from "../../../components/common/qr_screen.js";
import { composePage, download, Film, FORMAT } from "../../../components/common/recording.js";
import { linkTo } from "./address.js";
import { showTable } from "./table.js";

const HEAD = 34; // height of the title above the picture, in CSS pixels
const CONFIRMED = 2000; // milliseconds for which a button says that it is done
const ICONS = {
  table: "M3 5h18v14H3zM3 10h18M3 14.5h18M9 10v9",
  image: "M3 5h18v14H3zM5 17l5-6 4 4 2-2 3 4M16 9h.01",
  film: "M3 6h12v12H3zM15 11l6-4v10l-6-4",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  qr: "M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM18 14h2M14 18v2",
  present: "M3 4h18v12H3zM12 16v4M8 20h8",
};

/**
 * A button with an icon and words.
 * @param {keyof typeof ICONS} name
 * @param {Attributes} attributes
 */
function tool(name, attributes) {
  const icon = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
  const words = h("span");
  return { words, button: h("button", { class: `tool ${name}`, ...attributes }, icon, words) };
}

export class Tools {
  /** @type {Texts} */
  texts;

  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    this.tableShown = false;
    this.film = new Film({
      compose: (page) => this.compose(page),
      isOver: () => !lesson.stage.playing,
      changed: () => this.update(),
    });
    this.table = tool("table", { "aria-expanded": "false", click: () => this.showTable() });
    this.image = tool("image", { click: () => this.save() });
    this.record = tool("film", { click: () => this.toggleFilm() });
    this.link = tool("link", { click: () => this.copy() });
    this.qr = tool("qr", { hidden: true, click: () => this.showCode() });
    this.present = tool("present", { click: () => lesson.present() });
    const tools = [this.table, this.image, this.record, this.link].map(({ button }) => button);
    this.element = h("div", { class: "tools" }, ...tools);
  }

  /** @param {Texts} texts */
  label(texts) {
    this.texts = texts;
    this.table.words.textContent = texts.table;
    this.image.words.textContent = texts.image;
    this.link.words.textContent = texts.link;
    this.qr.words.textContent = texts.qr;
    this.update();
  }

  update() {
    const { texts, film, lesson } = this;
    if (!texts) return;
    this.record.words.textContent = film.running ? texts.film_stop : texts.film;
    this.record.button.hidden = !FORMAT || !lesson.scene?.playhead;
    this.qr.button.hidden = !lesson.presenting || !lesson.share;
    this.present.words.textContent = lesson.presenting ? texts.present_end : texts.present;
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
    const { stage, theme, description } = this.lesson;
    const title = { text: description.title, font: "600 15px", colour: theme.text, baseline: 22 };
    composePage(page, stage, theme, HEAD, [title]);
  }

  /** Films the way of the playhead. */
  toggleFilm() {
    const { lesson, film } = this;
    const { playhead } = lesson.scene;
    if (film.running || !playhead) return film.stop();
    lesson.set({ [playhead.name]: playhead.min });
    lesson.stage.play();
    film.start(lesson.fileName);
  }

  save() {
    const page = h("canvas");
    this.compose(page);
    page.toBlob((blob) => blob && download(blob, `${this.lesson.fileName}.png`));
  }

  async copy() {
    // Of what is on the screen: Python sets the address bar a moment later, and not at all while the figure plays.
    const link = linkTo(location.href, this.lesson.state());
    try {
      await navigator.clipboard.writeText(link);
      this.link.words.textContent = this.texts.link_copied;
    } catch {
      this.link.words.textContent = this.texts.link_failed;
    }
    setTimeout(() => (this.link.words.textContent = this.texts.link), CONFIRMED);
  }

  /** The QR code of the link over the whole screen. */
  showCode() {
    if (this.lesson.share) showCode(this.lesson.root, this.lesson.share);
  }

  stop() {
    this.film.stop();
  }
}
