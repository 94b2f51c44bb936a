// The confusion matrix: true classes down, predicted ones across, with recall and precision at the ends.
import { element, replace } from "./elements.js";
import { count, counted, percent } from "./numbers.js";

const MOST_CLASSES = 25;  // a wider table could not be read
const SHADES = 6;

function totals(cells, key) {
  const sums = new Map();
  for (const cell of cells) sums.set(cell[key], (sums.get(cell[key]) ?? 0) + cell.count);
  return sums;
}

function shade(rows, of) {
  if (rows === 0 || of === 0) return 0;
  return Math.max(1, Math.round((rows / of) * SHADES));
}

/** `cells` are {truth, prediction, count}; a missing prediction is null. `order`: the label's values, where they are known. */
export function drawConfusion(place, cells, k, order = []) {
  const support = totals(cells, "truth"), predicted = totals(cells, "prediction");
  const present = new Set([...support.keys(), ...predicted.keys()].filter((name) => name !== null));
  const names = [...new Set([...order.filter((name) => present.has(name)), ...present])];
  const frequent = [...names].sort((a, b) => (support.get(b) ?? 0) - (support.get(a) ?? 0)).slice(0, MOST_CLASSES);
  const shown = names.filter((name) => frequent.includes(name));
  const across = predicted.has(null) ? [...shown, null] : shown;
  const at = new Map(shown.map((name) => [name, new Map()]));
  for (const { truth, prediction, count: rows } of cells) at.get(truth)?.set(prediction, rows);
  const all = cells.reduce((sum, cell) => sum + cell.count, 0);
  const right = cells.reduce((sum, cell) => sum + (cell.truth === cell.prediction ? cell.count : 0), 0);
  const named = (name) => (name === null ? "nothing" : name);
  const cell = (truth, prediction) => {
    const rows = at.get(truth).get(prediction) ?? 0;
    const level = shade(rows, support.get(truth) ?? 0);
    return element("td", { class: `cell ${truth === prediction ? "right" : "wrong"} shade-${level}` }, count(rows));
  };
  const precision = (name) => (name === null ? "" : percent((at.get(name).get(name) ?? 0) / (predicted.get(name) ?? 0)).replace("NaN %", "–"));
  const table = element("table", { class: "matrix" },
    element("caption", { class: "unseen" }, `Confusion matrix with k = ${k}`),
    element("thead", {},
      element("tr", {}, element("th", { scope: "col" }, "True class"),
        ...across.map((name) => element("th", { scope: "col", class: "number", title: named(name) }, named(name))),
        element("th", { scope: "col", class: "number" }, "Recall"))),
    element("tbody", {}, ...shown.map((truth) => element("tr", {},
      element("th", { scope: "row", title: truth }, truth), ...across.map((prediction) => cell(truth, prediction)),
      element("td", { class: "number end" }, support.has(truth) ? percent((at.get(truth).get(truth) ?? 0) / support.get(truth)) : "–")))),
    element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, "Precision"),
      ...across.map((name) => element("td", { class: "number" }, precision(name))), element("td"))));
  replace(place, element("h3", {}, "Who is taken for whom"),
    element("p", { id: "confusion-words" }, `Confusion matrix with k = ${k}: ${count(right)} of ${counted(all, "row")} are right. `,
      "Each line is a true class, and each column a predicted one."),
    element("div", { class: "scroll", role: "region", "aria-label": "Confusion matrix", tabindex: "0" }, table),
    shown.length < names.length ? element("p", { class: "hint" }, `The ${shown.length} most frequent of ${count(names.length)} classes are shown.`) : "");
  place.hidden = false;
}
