// A snapshot in words, and all of a training history as tables.

import { h } from "../../common/page/dom.js";
import { decimals, fillText, formatCount, headName, percent } from "../../common/text/format.js";
import { numberRow, tableRegion } from "../../common/text/tables.js";

/**
 * @param {number | null | undefined} value
 * @param {number} digits
 */
const fixed = (value, digits) => (value === null || value === undefined ? "–" : value.toFixed(digits));

/** @param {number} value */
const precise = (value) => `${(100 * value).toFixed(1)}\u202f%`;

/**
 * "after 481 steps"
 * @param {TrainingHistory} history
 * @param {number} snapshot
 */
export function snapshotName({ steps, texts }, snapshot) {
  const step = steps[snapshot];
  return step ? fillText(texts.at, { step: formatCount(step) }) : texts.at_start;
}

/**
 * Loss, BLEU and alignment error of a snapshot.
 * @param {TrainingHistory} history
 * @param {number} snapshot
 */
export function snapshotSummary(history, snapshot) {
  const { texts, header } = history;
  const { validation, alignment, training } = header;
  const parts = [];
  if (validation) {
    const { name, nll, bleu, sentences } = validation;
    const count = formatCount(sentences);
    parts.push(fillText(texts.now_loss, { name, value: fixed(nll[snapshot], 3) }));
    parts.push(fillText(texts.now_bleu, { name, count, value: fixed(bleu[snapshot], 1) }));
  } else if (training.mean_nll[snapshot] !== null) {
    parts.push(fillText(texts.now_train, { value: fixed(training.mean_nll[snapshot], 3) }));
  }
  const best = history.aligner(snapshot);
  if (best) {
    const head = headName(best.layer, best.head);
    parts.push(fillText(texts.now_aer, { value: precise(best.value), head, count: alignment?.sentences }));
  }
  return parts.join(" · ");
}

/**
 * The roles of a head in words, the clearest first.
 * @param {TrainingHistory} history
 * @param {GrowthState} state
 */
export function roleDescriptions(history, state) {
  const { texts } = history;
  const found = history.fits(state).filter(({ places }) => places);
  return found.map(({ role, share, places, chance }) => {
    const about = fillText(texts.role_about, { role: texts[`role_${role}`], share: percent(share), places });
    return `${about} (${fillText(texts.by_chance, { chance: percent(chance) })})`;
  });
}

/**
 * All snapshots, and the weights of the chosen head.
 * @param {TrainingHistory} history
 * @param {GrowthState} state
 */
export function tables(history, state) {
  const { texts, steps } = history;
  const { training, validation, alignment, roles } = history.header;
  const { kind, layer, head } = state;
  const name = headName(layer, head);
  /** @type {[string, (snapshot: number) => string][]} */
  const columns = [
    [texts.rate, (snapshot) => training.learning_rate[snapshot]?.toExponential(2) ?? "–"],
    [`${texts.loss}: ${texts.loss_train}`, (snapshot) => fixed(training.mean_nll[snapshot], 3)],
  ];
  if (validation)
    columns.push(
      [`${texts.loss}: ${validation.name}`, (snapshot) => fixed(validation.nll[snapshot], 3)],
      [texts.bleu, (snapshot) => fixed(validation.bleu[snapshot], 1)],
    );
  if (alignment)
    columns.push([
      texts.aer,
      (snapshot) => {
        const best = history.aligner(snapshot);
        return best ? `${precise(best.value)} (${headName(best.layer, best.head)})` : "";
      },
    ]);
  for (const [role, { shares }] of Object.entries(roles[kind])) {
    const title = `${fillText(texts.head, { head: name })}: ${texts[`role_${role}`]}`;
    columns.push([title, (snapshot) => percent(shares[snapshot][layer][head])]);
  }
  const titles = [texts.moment, ...columns.map(([title]) => title)];
  const rows = steps.map((step, snapshot) =>
    numberRow(
      formatCount(step),
      columns.map(([, value]) => value(snapshot)),
    ),
  );
  return h("div", { class: "tables" }, tableRegion(texts.table_moments, titles, rows), weights(history, state));
}

/**
 * @param {TrainingHistory} history
 * @param {GrowthState} state
 */
function weights(history, state) {
  const { texts } = history;
  const { kind, layer, head, snapshot } = state;
  const sheet = history.view(state).sheet(layer, head);
  const rows = sheet.queries.map(({ text }, query) =>
    numberRow(
      text,
      sheet.keys.map((_, key) => (sheet.masked(query, key) ? "–" : decimals(sheet.at(query, key)))),
    ),
  );
  const values = { head: headName(layer, head), moment: snapshotName(history, snapshot) };
  const title = `${fillText(texts.table_weights, values)}. ${texts.exact}`;
  const corner = `${texts[`query_${kind}`]} ↓ ${texts[`key_${kind}`]} →`;
  return tableRegion(title, [corner, ...sheet.keys.map(({ text }) => text)], rows);
}
