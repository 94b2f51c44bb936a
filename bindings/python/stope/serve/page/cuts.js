// Step 5: the best cut of every column, and how the classes lie on both sides of the first few.
import { byId, dataTable, element, replace } from "./elements.js";
import { count, counted, short, valueOf } from "./numbers.js";
import { giveUp, runJson } from "./jobs.js";
import { legend } from "./class_colors.js";
import { classHistogram } from "./class_histogram.js";
import { sampleRows } from "./sample.js";
import { labelColumn, page, tableQuery, when } from "./page.js";
import { missingQuery } from "./missing.js";
import { records } from "./server.js";
import { classesLack } from "./tree.js";

const PICTURES = 6;
const MOST_ROWS = 100;  // of the ranking on the page

function clear() {
  giveUp("cuts");
  byId("cuts-result").hidden = true;
  for (const id of ["cuts-words", "cuts-problem"]) replace(byId(id));
}

function sayNeeds() {
  const lack = classesLack();
  replace(byId("cuts-needs"), lack);
  byId("cuts-needs").hidden = lack === "";
  byId("rank").querySelector("button").disabled = lack !== "";
}

/** Where a cut divides, in words. */
function divided({ name, cut, value }) {
  const column = page.table.columns.find((one) => one.name === name);
  if (value !== null && value !== undefined) return value === "?" ? "is missing" : `= ${value}`;
  if (cut === null) return "none";
  if (!Number.isFinite(Number(cut))) return "is missing";
  return `< ${valueOf(Number(cut), column?.type)}`;
}

async function rank(event) {
  event.preventDefault();
  clear();
  const table = page.table;
  const { missing } = missingQuery("cuts");
  const answer = await runJson("cuts", "Looking for the best cuts", "/compute/best_cuts", { query: { ...tableQuery(), missing } });
  if (answer === null || page.table !== table) return;
  const cuts = records(answer);
  const useful = cuts.filter((one) => one.cut !== null || (one.value !== null && one.value !== undefined));
  showRanking(cuts, useful);
  const first = useful.slice(0, PICTURES);
  if (first.length > 0) await showPictures(first, table, missing);
}

function showRanking(cuts, useful) {
  if (useful.length === 0) replace(byId("cuts-words"), "No column tells the classes apart.");
  else {
    const best = element("strong", {}, `${useful[0].name} ${divided(useful[0])}`);
    replace(byId("cuts-words"), best, " tells the most pairs of rows of different classes apart.");
  }
  const rows = cuts.slice(0, MOST_ROWS).map((one, i) => [String(i + 1), one.name, divided(one), short(one.score, 6)]);
  replace(byId("cuts-result"),
    element("div", { id: "cut-pictures" }),
    element("details", { class: "more" },
      element("summary", {}, `The best cut of ${counted(cuts.length, "column")}`),
      element("div", { class: "scroll short", role: "region", "aria-label": "All columns by their best cut", tabindex: "0" },
        element("table", {}, ...dataTable("Columns by their best cut, the best first", ["Rank", "Column", "Cut", "Score"], rows, [0, 3]))),
      cuts.length > MOST_ROWS ? element("p", { class: "hint" }, `The first ${MOST_ROWS} are shown.`) : ""));
  byId("cuts-result").hidden = false;
}

async function showPictures(cuts, table, missing) {
  const label = labelColumn();
  const sample = await sampleRows("cuts", "Rows for the histograms", table, [...new Set([...cuts.map(({ name }) => name), label.name])]);
  if (sample === null || page.table !== table) return;
  const classes = await classesOf(label, sample);
  const figures = cuts.map((one) => classHistogram({
    column: table.columns.find(({ name }) => name === one.name), cut: one, words: divided(one),
    values: sample.column(one.name), labels: sample.column(label.name), classes, missingIsValue: missing === "value",
  }));
  const partly = `The pictures count ${count(sample.rows)} of ${counted(table.rows, "row")}, taken from ${sample.parts} places of the table. ` +
    "The cuts were found with all rows.";
  replace(byId("cut-pictures"), legend(classes), element("div", { class: "gallery" }, ...figures),
    sample.rows < table.rows ? element("p", { class: "hint" }, partly) : "",
    missing === "fill" || missing === "drop" ? element("p", { class: "hint" }, "The pictures leave out missing values.") : "");
}

// In the label's own order, so that a class has the same colour here and in the tree.
function classesOf(label, sample) {
  const present = new Set(sample.column(label.name).filter((value) => value !== null));
  const known = (label.values ?? []).filter((value) => present.has(value));
  return known.length === present.size ? known : [...present].sort((a, b) => (typeof a === "number" ? a - b : a < b ? -1 : 1));
}

export function startCuts() {
  byId("rank").addEventListener("submit", rank);
  when("table", () => { clear(); sayNeeds(); });
  when("roles", () => { clear(); sayNeeds(); });
}
