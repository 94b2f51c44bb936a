// Step 3: scores over k as a chart and a table, and the confusion matrix of the chosen k.
import { byId, dataTable, element, replace } from "./elements.js";
import { fixed, percent, short } from "./numbers.js";
import { giveUp, runJson, sayProblem } from "./jobs.js";
import { drawConfusion } from "./confusion.js";
import { labelColumn, tell, when } from "./page.js";
import { scoreChart } from "./score_chart.js";
import { evaluateQuery } from "./settings.js";
import { records } from "./server.js";

// The first score of each kind decides which k is best.
const CLASSES = { accuracy: ["Accuracy", percent], kappa: ["Kappa", fixed], macro_f1: ["Macro F1", fixed] };
const NUMBERS = { rmse: ["RMSE", short], mae: ["MAE", short], r2: ["R²", fixed] };

let asked = null;   // the query that the scores on the page answer
let round = 0;      // counts evaluations, so that a late answer does not replace a newer one

function best(scores, nominal) {
  const first = nominal ? "accuracy" : "rmse";
  const better = (a, b) => (nominal ? a[first] > b[first] : a[first] < b[first]);
  return scores.reduce((so_far, one) => (so_far[first] === null || better(one, so_far) ? one : so_far));
}

function clear() {
  ++round;
  for (const step of ["evaluate", "confusion"]) giveUp(step);
  asked = null;
  for (const id of ["scores", "confusion"]) byId(id).hidden = true;
  for (const id of ["evaluate-words", "evaluate-problem", "confusion-problem"]) replace(byId(id));
}

async function evaluate(event) {
  event.preventDefault();
  clear();
  const mine = round;
  let query;
  try {
    query = evaluateQuery();
  } catch (error) {
    sayProblem("evaluate", Object.assign(error, { forPeople: true }));
    return;
  }
  const answer = await runJson("evaluate", "Evaluating", "/compute/evaluate", { query });
  if (answer === null || mine !== round) return;
  const scores = records(answer);
  const nominal = scores[0].accuracy !== undefined;
  asked = { query, nominal };
  show(scores, nominal);
  choose(best(scores, nominal).k);
}

function held(scheme) {
  return { "cross-validation": "in ten folds", "leave-one-out": "one row at a time", "hold-out": "with 30 % of the rows held out" }[scheme];
}

function show(scores, nominal) {
  const kinds = nominal ? CLASSES : NUMBERS;
  const [first] = Object.keys(kinds);
  const [title, write] = kinds[first];
  const top = best(scores, nominal);
  replace(byId("evaluate-words"), element("strong", {}, `${title} ${write(top[first])} with k = ${top.k}`), `, ${held(asked.query.scheme)}.`);
  byId("scores").hidden = false;
  replace(byId("score-chart"), scoreChart(scores.map((s) => ({ k: s.k, score: s[first] })), { title, write, best: top.k, share: nominal, wide: byId("score-chart").clientWidth }));
  replace(byId("score-caption"), `${title} over k. ${nominal ? "Higher" : "Lower"} is better.`);
  const radio = (k) => {
    const id = `use-k-${k}`;
    const input = element("input", { type: "radio", name: "use-k", id, value: k, onchange: () => choose(k) });
    return element("span", { class: "check" }, input, element("label", { for: id }, String(k)));
  };
  replace(byId("score-table"), ...dataTable("Scores of every k. The chosen k is that of the confusion matrix and of predictions.",
    ["k", ...Object.values(kinds).map(([head]) => head)],
    scores.map((s) => [radio(s.k), ...Object.entries(kinds).map(([name, [, text]]) => text(s[name]))]), [1, 2, 3]));
}

async function choose(k) {
  const mine = round;
  byId(`use-k-${k}`).checked = true;
  tell("k", k);
  if (!asked.nominal) return;
  const answer = await runJson("confusion", `Confusion matrix of k = ${k}`, "/compute/confusion", { query: { ...asked.query, n_neighbors: k } });
  if (answer === null || mine !== round || !byId(`use-k-${k}`).checked) return;
  drawConfusion(byId("confusion"), records(answer), k, labelColumn()?.values);
}

export function startEvaluation() {
  byId("evaluate").addEventListener("submit", evaluate);
  when("table", clear);
  when("roles", clear);
}

