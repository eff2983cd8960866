// A student's page: the poll that is open, and the way to follow the teacher in the app.

import { h } from "../../components/common/page/dom.js";
import { fillText } from "../../components/common/text/format.js";
import { ClassClient } from "./client.js";
import { Poll } from "./poll.js";

const PAUSE = 2000; // milliseconds

export default function start() {
  const main = /** @type {HTMLElement} */ (document.querySelector("main"));
  const { code, language, texts } = JSON.parse(main.dataset.class ?? "{}");
  const said = h("p", { class: "said", role: "status" });
  const section = h("section", { "aria-live": "off" });
  const follow = h("a", { hidden: true, href: `../?class=${code}&lang=${language}` }, texts.follow_here ?? "");
  main.append(section, said, follow);
  /** @type {(text: string, isProblem: boolean) => void} */
  const say = (text, isProblem) => {
    if (said.textContent !== text) said.textContent = text;
    said.classList.toggle("problem", isProblem);
  };
  if (!code) return say(texts.refused_ended, true);
  const poll = new Poll(section, texts, (number, option) => client.send("answer", { poll: number, option }));
  /** @param {ClassView} view */
  const show = (view) => {
    poll.show(view);
    follow.hidden = !view.place;
    const count = fillText(texts.answers, { answers: view.answers });
    if (!view.question) say(texts.wait, false);
    else if (view.state === "open") say(`${view.mine === null ? texts.choose : texts.can_change} ${count}`, false);
    else say(`${view.state === "closed" ? texts.is_closed : texts.is_revealed} ${count}`, false);
  };
  const client = new ClassClient(new URL(code, window.location.href).href, language, PAUSE, show, (reason) =>
    say(texts[`refused_${reason}`] ?? texts.refused_offline, true),
  );
}
