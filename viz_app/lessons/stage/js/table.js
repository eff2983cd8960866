// The numbers behind a picture, for those who want to read or copy them.

import { h } from "../../../components/common/dom.js";

const MOST_ROWS = 200;

/**
 * @param {TableData} data
 * @param {Texts} texts
 */
export function table({ columns, rows }, texts) {
  const head = h("tr", {}, ...columns.map((text) => h("th", { scope: "col" }, text)));
  const body = rows
    .slice(0, MOST_ROWS)
    .map((row) =>
      h(
        "tr",
        {},
        ...row.map((value) =>
          h("td", { class: typeof value === "number" ? "number" : null, dir: "auto" }, shown(value)),
        ),
      ),
    );
  const more =
    rows.length > MOST_ROWS ? h("p", { class: "note" }, `… ${rows.length - MOST_ROWS} ${texts.more_rows}`) : null;
  return h(
    "div",
    { class: "numbers", tabindex: "0", role: "region", "aria-label": texts.table },
    h("table", {}, h("thead", {}, head), h("tbody", {}, ...body)),
    more,
  );
}

/** @param {string | number} value */
function shown(value) {
  if (typeof value !== "number") return value;
  return Number.isInteger(value)
    ? String(value)
    : Math.abs(value) < 1e-3 && value !== 0
      ? value.toExponential(2)
      : value.toFixed(4);
}
