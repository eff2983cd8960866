// What the bench Trace says of a row, and what it says of a method.

import { fillText, percent, signed } from "../../../../components/common/text/format.js";
import { tokenText } from "../../../../components/common/text/tokens.js";
import { checkText } from "../../js/check.js";
import { largest } from "../../js/order.js";

const YARDSTICK = "leave-one-out";

/**
 * Lines below a small map: the agreement on this sentence, and the alignment error on a corpus; "" where there is none.
 * @param {import("./trace.js").Trace} bench
 * @param {number} number
 */
export function worth({ own, texts }, number) {
  const [tau, error] = [own.agreement[number], own.measured.errors[number]];
  const none = tau === null || own.methods[number] === YARDSTICK;
  return [
    none ? "" : fillText(texts.tile_here, { tau: signed(tau, 2) }),
    error === null ? "" : fillText(texts.tile_corpus, { error: percent(error) }),
  ];
}

/**
 * The row that is read, in words.
 * @param {import("./trace.js").Trace} bench
 * @param {Settings} settings
 */
export function traceText(bench, settings) {
  const { own, texts } = bench;
  const { method, number, row } = bench.shown(settings);
  const name = bench.title(method);
  const values = bench.scaled(number, settings.side, row);
  const at = largest(values.map(Math.abs));
  const carrier = tokenText(bench.columns(settings.side)[at]);
  const against = values[at] < 0;
  if (own.contrast && bench.contrastOf(number, settings.side, row)) {
    const [first, second] = own.contrast.tokens.map(tokenText);
    return fillText(against ? texts.contrast_against : texts.contrast_for, { first, second, carrier, method: name });
  }
  const token = tokenText(own.tokens[row]);
  const parts = [fillText(against ? texts.trace_against : texts.trace_say, { token, carrier, method: name })];
  const share = bench.share(number, row);
  if (share !== null) parts.push(fillText(texts.trace_share, { share: percent(share) }));
  const tau = own.agreement[number];
  if (tau !== null && method !== YARDSTICK) parts.push(fillText(texts.trace_tau, { tau: signed(tau, 2) }));
  if (method === "integrated-gradients" && own.gap !== null)
    parts.push(fillText(texts.trace_gap, { gap: signed(own.gap, 3) }));
  if (own.check && !bench.waits(settings)) parts.push(checkText(texts.check_words, own.check));
  return [...parts, ...known(bench, number)].join(" ");
}

/**
 * What many sentences tell about a method.
 * @param {import("./trace.js").Trace} bench
 * @param {number} number
 */
function known(bench, number) {
  const { own, texts } = bench;
  const { errors, taus, linked, read } = own.measured;
  const parts = [];
  const [error, tau] = [errors[number], taus[number]];
  if (tau !== null) {
    const sizes = taus.map((each) => each ?? -1);
    const best = largest(sizes);
    const values = {
      count: read,
      tau: signed(tau, 2),
      most: signed(sizes[best], 2),
      best: bench.title(own.methods[best]),
    };
    parts.push(fillText(best === number ? texts.trace_mean_most : texts.trace_mean, values));
  }
  if (error !== null) parts.push(fillText(texts.trace_error, { count: linked, error: percent(error) }));
  return parts;
}
