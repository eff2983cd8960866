// What the moment says in words, and everything again as tables.

import { fillText, h, headName, percent } from "../../common/dom.js";

/**
 * @param {number} value
 * @param {number} digits
 */
const plain = (value, digits) => (value === null || value === undefined ? "–" : value.toFixed(digits));

/**
 * "after 481 updates"
 * @param {GrowthHistory} history
 * @param {number} moment
 * @param {Texts} texts
 */
export function momentName(history, moment, texts) {
  const step = history.steps[moment];
  return step ? fillText(texts.at, { step: step.toLocaleString("en") }) : texts.at_start;
}

/**
 * Loss, BLEU and alignment error at a moment.
 * @param {GrowthHistory} history
 * @param {number} moment
 * @param {Texts} texts
 */
export function sayMoment(history, moment, texts) {
  const { validation, alignment, training } = history;
  const parts = [];
  if (validation) {
    const { name, sentences } = validation;
    parts.push(fillText(texts.now_loss, { name, value: plain(validation.nll[moment], 3) }));
    parts.push(
      fillText(texts.now_bleu, {
        name,
        count: sentences.toLocaleString("en"),
        value: plain(validation.bleu[moment], 1),
      }),
    );
  } else if (training.mean_nll[moment] !== null) {
    parts.push(fillText(texts.now_train, { value: plain(training.mean_nll[moment], 3) }));
  }
  const best = history.aligner(moment);
  if (best)
    parts.push(
      fillText(texts.now_aer, {
        value: percent1(best.value),
        head: headName(best.layer, best.head),
        count: alignment?.sentences,
      }),
    );
  return parts.join(" · ");
}

/**
 * The jobs of a head, the clearest first.
 * @param {GrowthHistory} history
 * @param {{ kind: Kind, moment: number, layer: number, head: number }} given
 * @param {Texts} texts
 */
export function sayJobs(history, { kind, moment, layer, head }, texts) {
  const found = history.fits(kind, moment, layer, head).filter(({ places }) => places);
  found.sort((a, b) => b.share - b.chance - (a.share - a.chance));
  return found.map(({ role, share, places, chance }) => {
    const about = fillText(texts.role_about, { role: texts[`role_${role}`], share: percent(share), places });
    return `${about} (${fillText(texts.by_chance, { chance: percent(chance) })})`;
  });
}

/**
 * All moments, and the weights of the chosen head.
 * @param {GrowthHistory} history
 * @param {GrowthState} state
 * @param {Texts} texts
 */
export function tables(history, state, texts) {
  const { kind, layer, head } = state;
  const roles = Object.keys(history.roles[kind]);
  const columns = [texts.moment, texts.rate, `${texts.loss}: ${texts.loss_train}`];
  if (history.validation) columns.push(`${texts.loss}: ${history.validation.name}`, texts.bleu);
  if (history.alignment) columns.push(texts.aer);
  const name = fillText(texts.head, { head: headName(layer, head) });
  columns.push(...roles.map((role) => `${name}: ${texts[`role_${role}`]}`));
  const rows = history.steps.map((step, moment) => {
    const row = [
      step.toLocaleString("en"),
      history.training.learning_rate[moment]?.toExponential(2) ?? "–",
      plain(history.training.mean_nll[moment], 3),
    ];
    if (history.validation)
      row.push(plain(history.validation.nll[moment], 3), plain(history.validation.bleu[moment], 1));
    if (history.alignment) {
      const best = history.aligner(moment);
      row.push(best ? `${percent1(best.value)} (${headName(best.layer, best.head)})` : "");
    }
    return row.concat(history.fits(kind, moment, layer, head).map(({ share }) => percent(share)));
  });
  const map = history.map(state.sentence, kind, state.moment, layer, head);
  const weights = map.queries.map((query, i) => [
    query,
    ...map.keys.map((_, j) => (map.masked(i, j) ? "–" : map.at(i, j).toFixed(3))),
  ]);
  const caption = fillText(texts.table_weights, {
    head: headName(layer, head),
    moment: momentName(history, state.moment, texts),
  });
  return h(
    "div",
    { class: "tables" },
    table(texts.table_moments, columns, rows),
    table(
      `${caption}. ${texts.exact}`,
      [`${texts[`query_${kind}`]} ↓ ${texts[`key_${kind}`]} →`, ...map.keys],
      weights,
    ),
  );
}

/**
 * @param {string} caption
 * @param {string[]} columns
 * @param {any[]} rows
 */
function table(caption, columns, rows) {
  const head = h("tr", {}, ...columns.map((text) => h("th", { scope: "col" }, text)));
  const body = rows.map(([first, ...others]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", dir: "auto" }, first),
      ...others.map((/** @type {string} */ value) => h("td", {}, value)),
    ),
  );
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, ...body)),
  );
}

/** @param {number} value */
function percent1(value) {
  return `${(100 * value).toFixed(1)}\u202f%`;
}
