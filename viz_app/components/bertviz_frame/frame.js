/**
 * Shows an untrusted document: in a frame that may run scripts, but has no origin, opens no window, submits
 * no form and cannot reach this page. All that it can say is how high it is, or that it failed.
 * data: { document: string, title: string, failed: string }
 */

const HIGHEST = 900;
const LOWEST = 120;
const views = new WeakMap();

class View {
  /** @type {any} */
  note;
  /** @type {string} */
  title;
  /** @type {any} */
  content;

  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {HTMLIFrameElement | null} */
    this.shown = null;
    this.next = null;
    /** @param {any} event */
    this.receive = (event) => this.onMessage(event);
    window.addEventListener("message", this.receive);
  }

  /** @param {{ document: any, title: string, failed: any }} given */
  draw({ document: content, title, failed }) {
    this.note = /** @type {HTMLElement} */ (this.place.querySelector(".failed"));
    this.note.textContent = failed;
    this.title = title;
    if (this.content === content) {
      const frame = this.next || this.shown;
      if (frame) frame.title = title;
      return;
    }
    this.content = content;
    this.next?.remove();
    this.next = this.frame(content);
    this.place.append(this.next);
  }

  /** @param {any} content */
  frame(content) {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.referrerPolicy = "no-referrer";
    frame.className = "waiting";
    frame.title = this.title;
    frame.style.height = `${LOWEST}px`;
    frame.srcdoc = content;
    return frame;
  }

  /** @param {{ source: any, data: any }} given */
  onMessage({ source, data }) {
    const frame = [this.next, this.shown].find((one) => one && one.contentWindow === source);
    if (!frame || typeof data !== "object" || data === null) {
      return;
    }
    const failed = data.failed === true;
    if (frame === this.next && (failed || Number.isFinite(data.height))) {
      this.shown?.remove();
      this.shown = frame;
      this.next = null;
      frame.className = "";
      this.place.dataset.state = "drawn";
    }
    if (failed) {
      frame.hidden = true;
      this.note.hidden = false;
      this.place.dataset.state = "failed";
    } else if (Number.isFinite(data.height)) {
      frame.style.height = `${Math.min(Math.max(data.height, LOWEST), HIGHEST)}px`;
      this.note.hidden = this.place.dataset.state !== "failed";
    }
  }

  stop() {
    window.removeEventListener("message", this.receive);
  }
}

/** @param {{ data: any, parentElement: HTMLElement }} given */
export default function ({ data, parentElement }) {
  const place = /** @type {any} */ (parentElement).querySelector(".frame");
  let view = views.get(place);
  if (!view) {
    view = new View(place);
    views.set(place, view);
  }
  view.draw(data);
  return () => {
    // Streamlit also cleans up after a call that a newer one has overtaken; then the frame is still on the page.
    if (!place.isConnected) {
      view.stop();
      views.delete(place);
    }
  };
}
