// The form of step 3: label, numbers of neighbours, measure, votes, and how rows are held out.
import { byId, fillSelect, replace } from "./elements.js";
import { count, wholeNumbers } from "./numbers.js";
import { setRole } from "./columns.js";
import { isNominal, labelColumn, page, roleOf, tableQuery, tell, when } from "./page.js";
import { json } from "./server.js";

const DEFAULT_MEASURE = "mixed-euclidean";
const NORMALIZE = [
  ["none", "taken as they are"], ["range", "scaled to 0 … 1"], ["z", "scaled to mean 0, deviation 1"],
  ["proportion", "divided by their sum"], ["interquartile", "scaled by median and quartiles"],
];
const WEIGHTS = [["uniform", "all the same"], ["distance", "more when they are nearer"]];
const MOST_LABELS = 1000;  // options of a select: a browser lays all of them out, and 10,000 take it seconds

let measures = [];

const features = () => page.table.columns.filter((column) => roleOf(column) === "regular");

// Measures of mixed columns take all tables; the others only columns of their kind.
function fitting() {
  const all = features();
  const nominal = all.some(isNominal), numeric = all.some((column) => !isNominal(column));
  return measures.filter(({ accepts }) => accepts === "mixed" || (accepts === "numeric" && !nominal) || (accepts === "nominal" && !numeric));
}

function fillMeasures() {
  const chosen = byId("metric").value || DEFAULT_MEASURE;
  const names = fitting().map(({ name }) => name);
  names.sort((a, b) => (b === DEFAULT_MEASURE) - (a === DEFAULT_MEASURE));
  fillSelect(byId("metric"), names.map((name) => [name, name === DEFAULT_MEASURE ? `${name} (for every table)` : name]), names.includes(chosen) ? chosen : names[0]);
  explainMeasure();
}

function explainMeasure() {
  replace(byId("metric-hint"), measures.find(({ name }) => name === byId("metric").value)?.summary ?? "");
}

function fillLabels() {
  const label = labelColumn();
  const columns = page.table.columns.slice(0, MOST_LABELS);
  if (label !== null && !columns.includes(label)) columns.unshift(label);
  fillSelect(byId("label"), [["", "Choose a column"], ...columns.map(({ name }) => [name, name])], label?.name ?? "");
  const hint = `The first ${count(MOST_LABELS)} columns are listed. Any other can become the label: change its role under “Columns”.`;
  replace(byId("label-hint"), page.table.columns.length > MOST_LABELS ? hint : "");
  byId("classes-field").hidden = label === null || isNominal(label);
  byId("label-is-nominal").checked = page.numbersAreClasses;
}

// Odd numbers cannot tie between two classes. A fold of ten leaves nine tenths of the rows to train with.
function usualKs(rows) {
  const most = Math.max(1, Math.min(25, Math.floor(rows * 0.6)));
  return Array.from({ length: Math.ceil(most / 2) }, (_, i) => 2 * i + 1).join(", ");
}

/** What the form asks for, as the query of the job "evaluate"; throws a sentence where it cannot be. */
export function evaluateQuery() {
  if (labelColumn() === null) throw Object.assign(new Error("Choose the label first: the column to predict."), { forPeople: true });
  return { ...modelQuery(), n_neighbors: wholeNumbers(byId("ks").value).join(","), scheme: byId("scheme").value };
}

/** The table and how distances and votes are made: what every k-NN job here shares. */
export const modelQuery = () => ({ ...tableQuery(), metric: byId("metric").value, normalize: byId("normalize").value, weights: byId("weights").value });

export async function startSettings() {
  fillSelect(byId("normalize"), NORMALIZE);
  fillSelect(byId("weights"), WEIGHTS);
  byId("metric").addEventListener("change", explainMeasure);
  byId("label").addEventListener("change", () => {
    const column = page.table.columns.find(({ name }) => name === byId("label").value);
    if (column) setRole(column, "label");
    else if (labelColumn() !== null) setRole(labelColumn(), "regular");
  });
  byId("label-is-nominal").addEventListener("change", () => {
    page.numbersAreClasses = byId("label-is-nominal").checked;
    tell("roles");
  });
  when("table", () => {
    byId("ks").value = usualKs(page.table.rows);
    fillLabels();
    fillMeasures();
  });
  when("roles", () => { fillLabels(); fillMeasures(); });
  const answer = await json("/measures");
  measures = answer.measures ?? answer;
  if (page.table !== null) fillMeasures();
}
