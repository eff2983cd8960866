// Asks the server how a class stands, again and again, and sends what is answered.

const TIMEOUT = 8000; // milliseconds

export class ClassClient {
  timer = 0;
  stopped = false;
  asked = 0; // requests, so that an answer that comes late shows nothing old
  given = ""; // whether the server has given this browser a cookie meanwhile: a parameter of its address

  /**
   * @param {string} address Of the class, "https://host/join/K7MQ2P".
   * @param {string} language
   * @param {number} pause Milliseconds between two looks.
   * @param {(view: ClassView) => void} onView
   * @param {(reason: string) => void} onRefused With the name of a sentence; "offline" when nobody answers.
   */
  constructor(address, language, pause, onView, onRefused) {
    this.address = address;
    this.language = language;
    this.pause = pause;
    this.onView = onView;
    this.onRefused = onRefused;
    this.onVisible = () => !document.hidden && this.look();
    document.addEventListener("visibilitychange", this.onVisible);
    this.look();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.onVisible);
  }

  look() {
    return this.ask("state");
  }

  /**
   * @param {string} action "answer" or "control".
   * @param {Record<string, any>} body
   */
  send(action, body) {
    return this.ask(action, { method: "POST", body: JSON.stringify(body) });
  }

  /**
   * @param {string} action
   * @param {RequestInit} [options]
   * @returns {Promise<void>}
   */
  async ask(action, options = {}) {
    clearTimeout(this.timer);
    const number = ++this.asked;
    try {
      const url = `${this.address}/${action}?lang=${this.language}${this.given}`;
      const signal = AbortSignal.timeout?.(TIMEOUT); // old phones have none
      const answer = await fetch(url, { ...options, signal, credentials: "same-origin" });
      const reply = await answer.json();
      if (number === this.asked && !this.stopped) {
        if (reply.refused === "new") {
          this.given = "&given=1";
          return this.look();
        }
        if (answer.ok) this.onView(reply);
        else this.onRefused(String(reply.refused));
      }
    } catch {
      if (number === this.asked && !this.stopped) this.onRefused("offline");
    }
    if (number === this.asked && !this.stopped) this.timer = window.setTimeout(() => this.look(), this.pause);
  }
}
