// What the moment says in words, and everything again as tables.

import { h } from "../../common/page/dom.js";
import { fillText, formatCount, headName, percent } from "../../common/text/format.js";
import { tableOf } from "../../common/text/tables.js";

/**
 * @param {number | null | undefined} value
 * @param {number} digits
 */
const number = (value, digits) => (value === null || value === undefined ? "–" : value.toFixed(digits));

/**
 * "after 481 updates"
 * @param {GrowthHistory} history
 * @param {number} moment
 * @param {Texts} texts
 */
export function momentName(history, moment, texts) {
  const step = history.steps[moment];
  return step ? fillText(texts.at, { step: formatCount(step) }) : texts.at_start;
}

/**
 * Loss, BLEU and alignment error at a moment.
 * @param {GrowthHistory} history
 * @param {number} moment
 * @param {Texts} texts
 */
export function momentSummary(history, moment, texts) {
  const { validation, alignment, training } = history;
  const parts = [];
  if (validation) {
    const { name, nll, bleu, sentences } = validation;
    const count = formatCount(sentences);
    parts.push(fillText(texts.now_loss, { name, value: number(nll[moment], 3) }));
    parts.push(fillText(texts.now_bleu, { name, count, value: number(bleu[moment], 1) }));
  } else if (training.mean_nll[moment] !== null) {
    parts.push(fillText(texts.now_train, { value: number(training.mean_nll[moment], 3) }));
  }
  const best = history.aligner(moment);
  if (best) {
    const values = { value: percent1(best.value), head: headName(best.layer, best.head), count: alignment?.sentences };
    parts.push(fillText(texts.now_aer, values));
  }
  return parts.join(" · ");
}

/**
 * The jobs of a head, the clearest first.
 * @param {GrowthHistory} history
 * @param {{ kind: Kind, moment: number, layer: number, head: number }} given
 * @param {Texts} texts
 */
export function jobDescriptions(history, { kind, moment, layer, head }, texts) {
  const found = history.fits(kind, moment, layer, head).filter(({ places }) => places);
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
  const name = fillText(texts.head, { head: headName(layer, head) });
  /** @type {[string, (moment: number) => string][]} */
  const columns = [
    [texts.moment, (moment) => formatCount(history.steps[moment])],
    [texts.rate, (moment) => history.training.learning_rate[moment]?.toExponential(2) ?? "–"],
    [`${texts.loss}: ${texts.loss_train}`, (moment) => number(history.training.mean_nll[moment], 3)],
  ];
  const { validation, alignment } = history;
  if (validation)
    columns.push(
      [`${texts.loss}: ${validation.name}`, (moment) => number(validation.nll[moment], 3)],
      [texts.bleu, (moment) => number(validation.bleu[moment], 1)],
    );
  if (alignment)
    columns.push([
      texts.aer,
      (moment) => {
        const best = history.aligner(moment);
        return best ? `${percent1(best.value)} (${headName(best.layer, best.head)})` : "";
      },
    ]);
  for (const [role, { shares }] of Object.entries(history.roles[kind]))
    columns.push([`${name}: ${texts[`role_${role}`]}`, (moment) => percent(shares[moment][layer][head])]);
  const rows = history.steps.map((_, moment) => columns.map(([, value]) => value(moment)));
  const map = history.map(state.sentence, kind, state.moment, layer, head);
  const weights = map.queries.map(({ text }, i) => [
    text,
    ...map.keys.map((_, j) => (map.masked(i, j) ? "–" : map.at(i, j).toFixed(3))),
  ]);
  const caption = fillText(texts.table_weights, {
    head: headName(layer, head),
    moment: momentName(history, state.moment, texts),
  });
  const corner = `${texts[`query_${kind}`]} ↓ ${texts[`key_${kind}`]} →`;
  return h(
    "div",
    { class: "tables" },
    region(
      texts.table_moments,
      columns.map(([title]) => title),
      rows,
    ),
    region(`${caption}. ${texts.exact}`, [corner, ...map.keys.map(({ text }) => text)], weights),
  );
}

/**
 * @param {string} caption
 * @param {string[]} columns
 * @param {string[][]} rows The first cell of each is its heading.
 */
function region(caption, columns, rows) {
  const cells = rows.map(([first, ...others]) => [
    h("th", { scope: "row", dir: "auto" }, first),
    ...others.map((value) => h("td", {}, value)),
  ]);
  const attributes = { class: "scroll", tabindex: "0", role: "region", "aria-label": caption };
  return h("div", attributes, tableOf(columns, cells, h("caption", {}, caption)));
}

/** @param {number} value */
function percent1(value) {
  return `${(100 * value).toFixed(1)}\u202f%`;
}
