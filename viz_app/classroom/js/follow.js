// A student's screen goes where the teacher is. What the page itself can show, its component is told; for another page,
// sentence or model Python is told that there is news.

import { instanceAt } from "../../components/common/component.js";
import { showFollowedView } from "../../components/common/page/followed_view.js";
import { ClassClient } from "./client.js";

const PAUSE = 1000; // milliseconds

/** @typedef {{ base: string, code: string, language: string, moves: number }} FollowData */

class Follower {
  /** @type {(moves: number) => void} Tells Python; mount gives it. */
  send;
  /** @type {ClassClient | null} */
  client = null;
  told = 0; // the last change of place that Python knows
  shown = -1; // the last one that the page shows
  address = "";

  /** @param {FollowData} data */
  receive({ base, code, language, moves }) {
    this.base = base;
    this.told = moves;
    const address = new URL(`${base}/join/${code}`, window.location.href).href;
    if (address === this.address) return;
    this.address = address;
    this.client?.stop();
    this.client = new ClassClient(
      address,
      language,
      PAUSE,
      (view) => this.see(view),
      (reason) => reason === "ended" && this.tell(-1),
    );
  }

  /** @param {ClassView} view */
  see({ place, moves }) {
    if (!place || this.shown === moves) return;
    if (!isHere(place, this.base ?? "")) this.tell(moves);
    else if (!place.view || showFollowedView(JSON.parse(place.view))) this.shown = moves;
  }

  /** @param {number} moves */
  tell(moves) {
    if (this.told === moves) return;
    this.told = moves;
    this.send(moves);
  }

  stop() {
    this.client?.stop();
  }
}

/**
 * Whether the browser shows the page of a place, with its sentence and its model.
 * @param {{ page: string, params: Record<string, string> }} place
 * @param {string} base
 */
function isHere({ page, params }, base) {
  const { pathname, search } = window.location;
  const own = new URLSearchParams(search);
  const path = pathname.slice(base.length).replace(/^\/|\/$/g, "");
  const same = (/** @type {string} */ name) => (own.get(name) ?? "") === (params[name] ?? "");
  return path === page && same("model") && same("lesson") && (!("text" in params) || same("text"));
}

/** @param {Mounted<FollowData>} component */
export default function mount({ data, parentElement, setStateValue }) {
  const { instance, unmount } = instanceAt(parentElement, "follower", () => new Follower());
  instance.send = (moves) => setStateValue("moves", moves);
  instance.receive(data);
  return unmount;
}
